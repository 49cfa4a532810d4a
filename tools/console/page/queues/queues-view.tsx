import { useSignal } from '@preact/signals';
import { callerName } from '../../../stage/history/state-text.ts';
import type { QueueInfo } from '../../api.ts';
import { api, errorText } from '../api.ts';
import { pauseCommand, resumeCommand } from '../command.ts';
import { Faults } from '../faults/faults.tsx';
import { formatRoute } from '../route.ts';
import { depthOf, queues, stack } from '../store.ts';
import { Visible } from '../text/visible.tsx';
import { Badge, Loading, Problems, Quantity } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { ReasonDialog } from '../ui/dialog.tsx';
import { Table, type TableColumn } from '../ui/table.tsx';
import { Age } from '../ui/time.tsx';
import { toastError } from '../ui/toasts.ts';
import { useRun } from '../use-run.tsx';

/** All queues, and on the local stack faults. */
export function QueuesView() {
  const { value } = queues;
  const { start } = useRun();
  const event = useSignal<string | undefined>(undefined);
  const pause = (name: string | undefined) => {
    event.value = name;
  };
  return (
    <div class="page">
      <div class="stack">
        <section class="stack" aria-label="Queues">
          {!stack.local && (
            <div class="row">
              <p class="soft grow">Read once a minute, and after commands that change a queue</p>
              <Button onClick={() => api.queues().catch((error) => toastError(errorText(error)))}>
                Refresh
              </Button>
            </div>
          )}
          {value === undefined && <Loading />}
          <Problems problems={value?.problems ?? []} />
          {value !== undefined && (
            <Table
              label="Queues"
              columns={columnsOf(value.pausesUnknown === true, pause)}
              rows={value.queues}
              idOf={({ name }) => name}
            />
          )}
        </section>
        {stack.local && <Faults />}
      </div>
      {event.value !== undefined && (
        <ReasonDialog
          title={`Pause ${event.value}`}
          text="Deliveries are still accepted and wait on the queue until you resume it, for up to seven days. An alarm’s email says who paused it and why."
          action={`Pause ${event.value}`}
          onReason={(reason) => start([pauseCommand(event.value ?? '', reason)])}
          onClose={() => pause(undefined)}
        />
      )}
    </div>
  );
}

const Dash = () => <span class="faint">–</span>;

function columnsOf(isUnknown: boolean, pause: (event: string) => void): TableColumn<QueueInfo>[] {
  const number = { end: true, width: 'minmax(auto, 96px)' };
  return [
    { name: 'queue', heading: 'Queue', width: 'max-content', cell: ({ name }) => <b>{name}</b> },
    {
      ...number,
      name: 'waiting',
      heading: 'Waiting',
      cell: ({ name, work }) => {
        if (work === undefined) return <Dash />;
        const query = { search: `event:${name}`, outcome: 'In progress' };
        const count = <Quantity of={work.visible} />;
        return work.visible === 0 ? count : <a href={formatRoute({ view: 'deliveries', query })}>{count}</a>;
      },
    },
    {
      ...number,
      name: 'in-flight',
      heading: 'In flight',
      cell: ({ work }) => (work === undefined ? <Dash /> : <Quantity of={work.inFlight} />),
    },
    {
      ...number,
      name: 'oldest',
      heading: 'Oldest',
      cell: ({ work, aside }) => {
        const at = (work ?? aside).oldestAt;
        return at === undefined ? <Dash /> : <Age at={at} suffix="" />;
      },
    },
    {
      ...number,
      name: 'aside',
      heading: 'Needs you',
      cell: ({ name, aside }) => {
        const count = depthOf(aside);
        if (count === 0) return <Quantity of={0} />;
        const href = formatRoute({ view: 'needs-you', query: { search: name } });
        return (
          <a class="badge tone-bad" href={href} aria-label={`${count} messages of ${name} need you`}>
            {count.toLocaleString('en')}
          </a>
        );
      },
    },
    {
      name: 'processing',
      heading: 'Processing',
      width: 'minmax(0, 1fr)',
      cell: (queue) =>
        queue.work === undefined ? <Dash /> : <Processing {...{ queue, isUnknown, pause }} />,
    },
  ];
}

interface ProcessingProps {
  queue: QueueInfo;
  isUnknown: boolean;
  pause: (event: string) => void;
}

function Processing({ queue: { name: event, paused, pausing }, isUnknown, pause }: ProcessingProps) {
  const { start, ...state } = useRun();
  if (isUnknown) return <span class="soft">Unknown</span>;
  // If one button takes the place of the other, it keeps the focus.
  if (paused === undefined) {
    return (
      <div class="row">
        <span class="soft">Active</span>
        <Button {...state} key="change" kind="quiet" label={`Pause ${event}`} onClick={() => pause(event)}>
          Pause
        </Button>
      </div>
    );
  }
  return (
    <div class="row">
      <Badge tone="warning">{pausing ? 'Pausing …' : 'Paused'}</Badge>
      <Button {...state} key="change" label={`Resume ${event}`} onClick={() => start([resumeCommand(event)])}>
        Resume
      </Button>
      <PauseNote paused={paused} />
    </div>
  );
}

const PauseNote = ({ paused: { since, by, reason } }: { paused: NonNullable<QueueInfo['paused']> }) => (
  <span class="soft" title={by}>
    {since === undefined ? 'turned off by hand' : <Age at={since} />}
    {by !== undefined && ` by ${callerName(by)}`}
    {reason !== undefined && (
      <>
        : <Visible text={reason} />
      </>
    )}
  </span>
);
