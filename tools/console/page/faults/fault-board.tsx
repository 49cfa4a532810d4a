import { useSignal } from '@preact/signals';
import type { FaultInfo, FaultSettings } from '../../api.ts';
import { Field } from '../ui/field.tsx';
import { Table, type TableColumn } from '../ui/table.tsx';
import {
  canFail,
  expectation,
  type FaultService,
  faultKinds,
  faultServices,
  faultTitle,
  kindNames,
  parseMilliseconds,
  parseShare,
  serviceTexts,
} from './fault-text.ts';

/**
 * A switch for each service and kind of fault. Below them, the expected result of the fault under the
 * pointer.
 */
export function FaultBoard({ active, onSwitch }: FaultBoardProps) {
  const share = useSignal('100');
  const milliseconds = useSignal('1500');
  const pointed = useSignal<FaultChoice>();
  const affected = parseShare(share.value);
  const delay = parseMilliseconds(milliseconds.value);
  const problem = [affected, delay].find((parsed) => typeof parsed === 'string');
  const faultOf = ({ service, kind }: FaultChoice) =>
    active.find((fault) => fault.service === service && fault.kind === kind);
  const settingsOf = (choice: FaultChoice): FaultSettings => ({
    ...choice,
    share: typeof affected === 'number' ? affected : 1,
    ...(choice.kind === 'slow' && typeof delay === 'number' && { milliseconds: delay }),
  });
  const shown = pointed.value && (faultOf(pointed.value) ?? settingsOf(pointed.value));
  const columns: TableColumn<FaultService>[] = [
    {
      name: 'service',
      heading: 'Service',
      width: 'minmax(0, 1fr)',
      cell: (service) => (
        <>
          {serviceTexts[service].name}
          <p class="soft">{serviceTexts[service].use}</p>
        </>
      ),
    },
    ...faultKinds.map((kind) => ({
      name: kind,
      heading: kindNames[kind],
      width: 'minmax(min-content, 10%)',
      cell: (service: FaultService) =>
        canFail(service, kind) ? (
          <FaultSwitch
            settings={settingsOf({ service, kind })}
            fault={faultOf({ service, kind })}
            isRefused={problem !== undefined}
            onSwitch={onSwitch}
            onPoint={() => {
              pointed.value = { service, kind };
            }}
          />
        ) : (
          <span class="faint">–</span>
        ),
    })),
  ];
  return (
    <section class="card" aria-label="Faults of services">
      <header>
        {[
          { name: 'share', label: 'Share of calls, in %', typed: share, parsed: affected },
          { name: 'delay', label: 'Delay of slow calls, in ms', typed: milliseconds, parsed: delay },
        ].map(({ name, label, typed, parsed }) => (
          <Field
            key={name}
            name={name}
            label={label}
            value={typed.value}
            problem={typeof parsed === 'string' ? parsed : undefined}
            onInput={(text) => {
              typed.value = text;
            }}
          />
        ))}
      </header>
      <p class="expectation" role="status">
        {shown === undefined && <span class="soft">Select a switch to see what it does.</span>}
        {shown !== undefined && (
          <>
            <b>{faultTitle(shown)}:</b>{' '}
            {problem !== undefined && !('id' in shown) ? problem : expectation(shown)}
          </>
        )}
      </p>
      <Table label="Faults" columns={columns} rows={faultServices} idOf={(service) => service} />
    </section>
  );
}

interface FaultBoardProps {
  active: readonly FaultInfo[];
  /** @param fault the active fault to end; undefined to begin one with these settings */
  onSwitch: (settings: FaultSettings, fault: FaultInfo | undefined) => void;
}

type FaultChoice = Pick<FaultSettings, 'service' | 'kind'>;

interface FaultSwitchProps extends Pick<FaultBoardProps, 'onSwitch'> {
  settings: FaultSettings;
  /** The active fault; undefined if the switch is off. */
  fault: FaultInfo | undefined;
  isRefused: boolean;
  onPoint: () => void;
}

function FaultSwitch({ settings, fault, isRefused, onSwitch, onPoint }: FaultSwitchProps) {
  const { service, kind } = settings;
  const isOff = isRefused && fault === undefined;
  return (
    <button
      type="button"
      role="switch"
      class="switch"
      aria-checked={fault !== undefined}
      aria-label={`${serviceTexts[service].name} ${kindNames[kind].toLowerCase()}`}
      aria-disabled={isOff}
      onMouseEnter={onPoint}
      onFocus={onPoint}
      onClick={() => {
        if (!isOff) onSwitch(settings, fault);
      }}
    />
  );
}
