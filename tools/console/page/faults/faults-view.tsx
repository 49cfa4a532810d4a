import { useSignal } from '@preact/signals';
import type { FaultInfo, FaultSettings } from '../../api.ts';
import { api, errorText } from '../api.ts';
import { faults } from '../store.ts';
import { ErrorNote, Quantity } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { toastError, toastInfo } from '../ui/notices.tsx';
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

/** Changes a fault or a function. A toast reports an error, and a success that is not visible otherwise. */
async function change(work: () => Promise<unknown>, done?: string): Promise<void> {
  try {
    await work();
    if (done !== undefined) toastInfo(done);
  } catch (error) {
    toastError(errorText(error));
  }
  faults.value.reload();
}

export function FaultsView() {
  const { value, error } = faults.value;
  const active = value?.active ?? [];
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
          <Button
            kind="danger"
            refusal={active.length === 0 ? 'No fault is active.' : undefined}
            onClick={() => change(() => api.endFault())}
          >
            End all faults
          </Button>
        </header>
        <ErrorNote>{error}</ErrorNote>
        <Board active={active} />
        <ActiveFaults active={active} />
        <Functions names={value?.functions ?? []} />
      </div>
    </div>
  );
}

/** A switch for each service and kind of fault, and the expected result of the one under the pointer. */
function Board({ active }: { active: readonly FaultInfo[] }) {
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
      width: 'minmax(auto, 120px)',
      cell: (service: FaultService) =>
        canFail(service, kind) ? (
          <FaultSwitch
            settings={settingsOf({ service, kind })}
            fault={faultOf({ service, kind })}
            isRefused={problem !== undefined}
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
        <Field
          name="share"
          label="Share of calls, in %"
          value={share.value}
          problem={typeof affected === 'string' ? affected : undefined}
          onInput={(text) => {
            share.value = text;
          }}
        />
        <Field
          name="delay"
          label="Delay of slow calls, in ms"
          value={milliseconds.value}
          problem={typeof delay === 'string' ? delay : undefined}
          onInput={(text) => {
            milliseconds.value = text;
          }}
        />
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

type FaultChoice = Pick<FaultSettings, 'service' | 'kind'>;

interface FaultSwitchProps {
  settings: FaultSettings;
  /** Undefined while it is off. */
  fault: FaultInfo | undefined;
  isRefused: boolean;
  onPoint: () => void;
}

function FaultSwitch({ settings, fault, isRefused, onPoint }: FaultSwitchProps) {
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
        if (isOff) return;
        change(() => (fault === undefined ? api.beginFault(settings) : api.endFault(fault.id)));
      }}
    />
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
