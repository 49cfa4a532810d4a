import { useState } from 'preact/hooks';
import type { FaultInfo, FaultSettings } from '../../api.ts';
import { api, errorText } from '../api.ts';
import { faults } from '../store.ts';
import { Quantity } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { toastError, toastInfo } from '../ui/notices.tsx';
import { Table, type TableColumn } from '../ui/table.tsx';
import {
  canFail,
  expectation,
  type FaultKind,
  type FaultService,
  faultKinds,
  faultServices,
  faultTitle,
  kindNames,
  parseMilliseconds,
  parseShare,
  serviceTexts,
} from './fault-text.ts';

/** Changes a fault or a function. A toast reports an error, and a success that is not visible otherwise. */
async function change(work: () => Promise<unknown>, done?: string): Promise<void> {
  try {
    await work();
    if (done !== undefined) toastInfo(done);
  } catch (error) {
    toastError(errorText(error));
  }
}

export function FaultsView() {
  const { active = [], functions = [] } = faults.value ?? {};
  return (
    <div class="page">
      <div class="stack sections">
        <header class="row">
          <div class="intro">
            <h2>Break something, and watch it recover</h2>
            <p class="soft">
              A fault affects the calls of functions and event sources until you end it. It does not affect
              this console or commands.
            </p>
          </div>
          <Button kind="danger" disabled={active.length === 0} onClick={() => change(() => api.endFault())}>
            End all faults
          </Button>
        </header>
        <Board active={active} />
        <ActiveFaults active={active} />
        <Functions names={functions} />
      </div>
    </div>
  );
}

/** A switch for each service and kind of fault, and the expected result of the one under the pointer. */
function Board({ active }: { active: readonly FaultInfo[] }) {
  const [share, setShare] = useState('100');
  const [milliseconds, setMilliseconds] = useState('1500');
  const [pointed, setPointed] = useState<{ service: FaultService; kind: FaultKind }>();
  const parsedShare = parseShare(share);
  const parsedMilliseconds = parseMilliseconds(milliseconds);
  const problems = [parsedShare, parsedMilliseconds].filter((parsed) => typeof parsed === 'string');
  const find = (service: FaultService, kind: FaultKind) =>
    active.find((fault) => fault.service === service && fault.kind === kind);
  const settingsOf = (service: FaultService, kind: FaultKind): FaultSettings => ({
    service,
    kind,
    share: typeof parsedShare === 'number' ? parsedShare : 1,
    ...(kind === 'slow' && typeof parsedMilliseconds === 'number' && { milliseconds: parsedMilliseconds }),
  });
  const switchOf = (service: FaultService, kind: FaultKind) => {
    const fault = find(service, kind);
    const point = () => setPointed({ service, kind });
    return (
      <button
        type="button"
        role="switch"
        class="switch"
        aria-checked={fault !== undefined}
        aria-label={`${serviceTexts[service].name} ${kindNames[kind].toLowerCase()}`}
        disabled={problems.length > 0 && fault === undefined}
        onMouseEnter={point}
        onFocus={point}
        onClick={() =>
          change(() =>
            fault === undefined ? api.beginFault(settingsOf(service, kind)) : api.endFault(fault.id),
          )
        }
      />
    );
  };
  const shown = pointed && (find(pointed.service, pointed.kind) ?? settingsOf(pointed.service, pointed.kind));
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
      width: 'minmax(auto, 120px)',
      cell: (service: FaultService) =>
        canFail(service, kind) ? switchOf(service, kind) : <span class="faint">–</span>,
    })),
  ];
  return (
    <section class="card" aria-label="Faults of services">
      <header>
        <NumberField
          label="Affects"
          value={share}
          unit="% of calls"
          problem={typeof parsedShare === 'string'}
          onInput={setShare}
        />
        <NumberField
          label="Delays slow calls by"
          value={milliseconds}
          unit="ms"
          problem={typeof parsedMilliseconds === 'string'}
          onInput={setMilliseconds}
        />
        <span class="bad" role="status">
          {problems.join(' ')}
        </span>
      </header>
      <p class="expectation" role="status">
        {shown === undefined ? (
          <span class="soft">Select a switch to see what it does.</span>
        ) : (
          <>
            <b>{faultTitle(shown)}:</b> {expectation(shown)}
          </>
        )}
      </p>
      <Table label="Faults" columns={columns} rows={faultServices} idOf={(service) => service} />
    </section>
  );
}

interface NumberFieldProps {
  label: string;
  unit: string;
  value: string;
  problem: boolean;
  onInput: (text: string) => void;
}

function NumberField({ label, unit, value, problem, onInput }: NumberFieldProps) {
  return (
    <label>
      {label}{' '}
      <input
        class="field end"
        size={5}
        inputMode="decimal"
        value={value}
        aria-invalid={problem}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />{' '}
      {unit}
    </label>
  );
}

function ActiveFaults({ active }: { active: readonly FaultInfo[] }) {
  return (
    <section class="stack" aria-labelledby="active-faults">
      <h2 id="active-faults">Active faults</h2>
      {active.length === 0 ? (
        <p class="soft">No faults active</p>
      ) : (
        <Table
          label="Active faults"
          rows={active}
          idOf={({ id }) => id}
          columns={[
            { name: 'fault', heading: 'Fault', width: 'minmax(0, 1fr)', cell: faultTitle },
            {
              name: 'expect',
              heading: 'What to expect',
              width: 'minmax(0, 2fr)',
              cell: (fault) => <span class="soft">{expectation(fault)}</span>,
            },
            {
              name: 'hits',
              heading: 'Calls affected',
              end: true,
              cell: ({ hits }) => <Quantity of={hits} />,
            },
            {
              name: 'act',
              heading: 'End',
              hidesHeading: true,
              cell: (fault) => (
                <Button
                  label={`End ${faultTitle(fault)}`}
                  onClick={() => change(() => api.endFault(fault.id))}
                >
                  End
                </Button>
              ),
            },
          ]}
        />
      )}
    </section>
  );
}

const KILLS = [
  { label: 'Kill now', next: false, done: 'was killed, with any work in progress.' },
  { label: 'Kill on next invocation', next: true, done: 'will be killed during its next invocation.' },
];

/** Kills a function during its work, like a crash of its machine. */
function Functions({ names }: { names: readonly string[] }) {
  return (
    <section class="stack" aria-labelledby="functions">
      <div>
        <h2 id="functions">Kill a function</h2>
        <p class="soft prose">
          If the receiver is killed, its delivery gets no response and the partner sends it again. If a
          consumer is killed, its messages come back after their visibility timeout: three minutes, or seconds
          with <code>--retry-fast</code>. No event is lost and no item is written twice.
        </p>
      </div>
      <Table
        label="Functions"
        rows={names}
        idOf={(name) => name}
        columns={[
          { name: 'function', heading: 'Function', cell: (name) => name },
          {
            name: 'act',
            heading: 'Kill',
            width: 'minmax(0, 1fr)',
            cell: (name) => (
              <div class="row">
                {KILLS.map(({ label, next, done }) => (
                  <Button
                    key={label}
                    label={`${label}: ${name}`}
                    onClick={() => change(() => api.kill(name, next), `${name} ${done}`)}
                  >
                    {label}
                  </Button>
                ))}
              </div>
            ),
          },
        ]}
      />
    </section>
  );
}
