import type { FaultInfo } from '../../api.ts';
import { api, errorText } from '../api.ts';
import { deliveriesAddress } from '../route.ts';
import { faults, stack } from '../store.ts';
import { Empty, Quantity } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { toastError, toastInfo } from '../ui/notices.tsx';
import { Table } from '../ui/table.tsx';
import { FaultBoard } from './fault-board.tsx';
import { expectation, faultTitle } from './fault-text.ts';

/**
 * Runs a request that changes a fault or a function. A toast reports an error, and `done` after a success.
 */
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
  if (!stack.local) return <OnlyLocal />;
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
        <FaultBoard
          active={active}
          onSwitch={(settings, fault) =>
            change(() => (fault === undefined ? api.beginFault(settings) : api.endFault(fault.id)))
          }
        />
        <ActiveFaults active={active} />
        <Functions names={functions} />
      </div>
    </div>
  );
}

const OnlyLocal = () => (
  <Empty title="Faults exist only on the local stack">
    <p>
      This console shows {stack.title}. Start the local stack with <code>npx hookctl start</code> to try a
      fault.
    </p>
    <a href={deliveriesAddress.value}>Deliveries</a>
  </Empty>
);

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

/** Buttons that kill a function while it works, as a crash of its machine would. */
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
