import { useState } from 'preact/hooks';
import type { ActiveFault, FaultSettings } from '../../api.ts';
import {
  canFail,
  expectation,
  type FaultKind,
  type FaultService,
  faultKinds,
  faultServices,
  faultTitle,
  kindMeanings,
  kindNames,
  parseMilliseconds,
  parseShare,
  serviceName,
  serviceUse,
} from './fault-text.ts';

interface FaultBoardProps {
  active: readonly ActiveFault[];
  onBegin: (fault: FaultSettings) => void;
  onEnd: (id: string) => void;
}

/** A switch for each way in which a service can fail, and what to expect of the one that is looked at. */
export function FaultBoard({ active, onBegin, onEnd }: FaultBoardProps) {
  const [share, setShare] = useState('100');
  const [milliseconds, setMilliseconds] = useState('1500');
  const [looked, setLooked] = useState<{ service: FaultService; kind: FaultKind }>();
  const parsedShare = parseShare(share);
  const parsedMilliseconds = parseMilliseconds(milliseconds);
  const isSound = typeof parsedShare === 'number' && typeof parsedMilliseconds === 'number';
  const faultOf = (service: FaultService, kind: FaultKind): FaultSettings => ({
    service,
    kind,
    share: typeof parsedShare === 'number' ? parsedShare : 1,
    ...(kind === 'slow' && typeof parsedMilliseconds === 'number' && { milliseconds: parsedMilliseconds }),
  });
  const shown = looked && (active.find((one) => isOf(one, looked)) ?? faultOf(looked.service, looked.kind));
  return (
    <section class="board" aria-label="Faults of services">
      <fieldset class="board-settings">
        <legend class="visually-hidden">What is switched on next</legend>
        <label>
          A switch hits
          <input
            class="field"
            inputMode="decimal"
            value={share}
            aria-invalid={typeof parsedShare === 'string'}
            onInput={({ currentTarget }) => setShare(currentTarget.value)}
          />
          % of the calls.
        </label>
        <label>
          A slow one waits
          <input
            class="field"
            inputMode="numeric"
            value={milliseconds}
            aria-invalid={typeof parsedMilliseconds === 'string'}
            onInput={({ currentTarget }) => setMilliseconds(currentTarget.value)}
          />
          ms.
        </label>
        <span class="hint is-problem" role="status">
          {[parsedShare, parsedMilliseconds].filter((parsed) => typeof parsed === 'string').join('. ')}
        </span>
      </fieldset>
      <p class="board-expect" role="status">
        {shown === undefined ? (
          <span class="soft">Point at a switch to read what to expect of it.</span>
        ) : (
          <>
            <b>
              {active.some((one) => isOf(one, shown)) ? '' : 'If '}
              {faultTitle(shown)}:
            </b>{' '}
            {expectation(shown)}
          </>
        )}
      </p>
      <div class="table-scroll">
        <table class="table board-table">
          <caption class="visually-hidden">A switch for each service and fault</caption>
          <thead>
            <tr>
              <th scope="col">Service</th>
              {faultKinds.map((kind) => (
                <th key={kind} scope="col">
                  {kindNames[kind]}
                  <span class="soft">{kindMeanings[kind]}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {faultServices.map((service) => (
              <tr key={service}>
                <th scope="row">
                  {serviceName(service)}
                  <span class="soft">{serviceUse(service)}</span>
                </th>
                {faultKinds.map((kind) => (
                  <td key={kind}>
                    {canFail(service, kind) ? (
                      <Switch
                        fault={active.find((one) => isOf(one, { service, kind }))}
                        label={`${serviceName(service)} ${kindNames[kind].toLowerCase()}`}
                        disabled={!isSound}
                        onLook={() => setLooked({ service, kind })}
                        onBegin={() => onBegin(faultOf(service, kind))}
                        onEnd={onEnd}
                      />
                    ) : (
                      <span class="nothing" aria-hidden="true">
                        –
                      </span>
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const isOf = (one: FaultSettings, { service, kind }: { service: FaultService; kind: FaultKind }) =>
  one.service === service && one.kind === kind;

interface SwitchProps {
  fault: ActiveFault | undefined;
  label: string;
  disabled: boolean;
  onLook: () => void;
  onBegin: () => void;
  onEnd: (id: string) => void;
}

function Switch({ fault, label, disabled, onLook, onBegin, onEnd }: SwitchProps) {
  return (
    <button
      type="button"
      role="switch"
      class="switch"
      aria-checked={fault !== undefined}
      aria-label={label}
      disabled={disabled && fault === undefined}
      onMouseEnter={onLook}
      onFocus={onLook}
      onClick={() => (fault === undefined ? onBegin() : onEnd(fault.id))}
    >
      <span class="switch-knob" />
    </button>
  );
}
