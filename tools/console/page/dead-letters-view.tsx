import { useState } from 'preact/hooks';
import { counted } from '../../terminal/text.ts';
import type { DeadLetter, DeadLetterGroup } from '../api.ts';
import { api } from './api.ts';
import {
  deadLetterAddress,
  eventsOf,
  redriveAll,
  redriveCommand,
  redriveGroup,
} from './queues/named-queue.ts';
import { formatRoute } from './route.ts';
import { stack } from './store.ts';
import { Visible } from './text/visible.tsx';
import { Copies, Empty, Problems, Quantity } from './ui/badge.tsx';
import { Button, Disclose } from './ui/button.tsx';
import { Copy } from './ui/copy.tsx';
import { Table, type TableColumn, toggled } from './ui/table.tsx';
import { Age } from './ui/time.tsx';
import { LoadNote, localRefresh, Refresh, useLoad } from './ui/use-load.tsx';
import { useRun } from './use-run.tsx';

/** Dead letters of all events, grouped by reason. */
export function DeadLettersView() {
  const act = useRun();
  const { start, ...state } = act;
  const loaded = useLoad('dead letters', api.deadLetters, localRefresh());
  const { groups = [], problems = [], limited = [] } = loaded.value ?? {};
  const total = groups.reduce((sum, { count }) => sum + count, 0);
  return (
    <div class="page">
      <div class="stack">
        {total > 0 && (
          <header class="row">
            <h2 class="grow">
              {counted(total, 'dead letter')}, {counted(groups.length, 'reason')}
            </h2>
            <Refresh of={loaded} />
            <Button {...state} onClick={() => start(redriveAll(groups))}>
              Redrive all
            </Button>
          </header>
        )}
        <LoadNote of={loaded} />
        <Problems
          problems={[
            ...problems,
            ...limited.map((event) => `${event} has more dead letters than are shown here.`),
          ]}
        />
        {loaded.value !== undefined && total === 0 && <NoDeadLetters />}
        {total > 0 && <Groups groups={groups} act={act} />}
      </div>
    </div>
  );
}

function NoDeadLetters() {
  return (
    <Empty title="No dead letters">
      <p>
        An event that cannot be processed, or that failed ten times, becomes a dead letter. It is kept here
        with its reason for 14 days. Fix the cause, then redrive it.
      </p>
      {stack.local && (
        <p>
          To see one, start the stack with <code>npx hookctl start --retry-fast</code>, turn on “DynamoDB
          down” under <a href={formatRoute({ view: 'faults' })}>Faults</a> and send a sample. Its ten attempts
          then take about ten seconds.
        </p>
      )}
    </Empty>
  );
}

type RunAction = ReturnType<typeof useRun>;

function Groups({ groups, act }: { groups: readonly DeadLetterGroup[]; act: RunAction }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const { start, ...state } = act;
  const columns: TableColumn<DeadLetterGroup>[] = [
    {
      name: 'reason',
      heading: 'Reason',
      width: 'minmax(0, 3fr)',
      cell: ({ reason }) => (
        <Disclose open={open.has(reason)} onToggle={() => setOpen(toggled(open, reason))}>
          <Visible text={reason} />
        </Disclose>
      ),
    },
    {
      name: 'events',
      heading: 'Events',
      width: 'minmax(0, 2fr)',
      cell: (group) => (
        <ul>
          {eventsOf(group).map(({ event, count }) => (
            <li key={event}>
              {event} <span class="soft">{count.toLocaleString('en')}</span>
            </li>
          ))}
        </ul>
      ),
    },
    { name: 'count', heading: 'Count', end: true, cell: ({ count }) => <Quantity of={count} /> },
    { name: 'first', heading: 'First', end: true, cell: ({ firstAt }) => <Age at={firstAt} /> },
    { name: 'last', heading: 'Last', end: true, cell: ({ lastAt }) => <Age at={lastAt} /> },
    {
      name: 'act',
      heading: 'Redrive',
      hidesHeading: true,
      end: true,
      cell: (group) => (
        <Button
          {...state}
          label={`Redrive ${counted(group.count, 'dead letter')}: ${group.reason}`}
          onClick={() => start(redriveGroup(group))}
        >
          Redrive
        </Button>
      ),
    },
  ];
  return (
    <Table
      label="Dead letters by reason"
      columns={columns}
      rows={groups}
      idOf={({ reason }) => reason}
      below={(group) => open.has(group.reason) && <Letters group={group} act={act} />}
    />
  );
}

function Letters({ group, act }: { group: DeadLetterGroup; act: RunAction }) {
  const { start, ...state } = act;
  const columns: TableColumn<DeadLetter>[] = [
    { name: 'event', heading: 'Event', cell: ({ queue }) => <a href={deadLetterAddress(queue)}>{queue}</a> },
    {
      name: 'id',
      heading: 'Id',
      width: 'minmax(0, 1fr)',
      cell: ({ id, eventId, copies }) => (
        <>
          <code>{eventId ?? id}</code>{' '}
          <Copy
            text={eventId ?? id}
            label={eventId === undefined ? 'Copy the message id' : 'Copy the event id'}
          />{' '}
          <Copies of={copies} />
        </>
      ),
    },
    {
      name: 'act',
      heading: 'Actions',
      hidesHeading: true,
      end: true,
      cell: ({ queue, id, eventId, copies }) => (
        <>
          {eventId !== undefined && (
            <a
              class="button button-quiet"
              href={formatRoute({ view: 'deliveries', query: { search: eventId } })}
              aria-label={`Deliveries of ${eventId}`}
            >
              Deliveries
            </a>
          )}
          <Button
            {...state}
            kind="quiet"
            label={`Redrive ${eventId ?? id}`}
            onClick={() => start([redriveCommand(queue, [id], copies)])}
          >
            Redrive
          </Button>
        </>
      ),
    },
  ];
  return (
    <Table
      label={`Dead letters: ${group.reason}`}
      columns={columns}
      rows={group.messages}
      idOf={({ id }) => id}
    />
  );
}
