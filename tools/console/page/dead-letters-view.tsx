import { counted } from '../../terminal/text.ts';
import { api } from './api.ts';
import { MessageGroups, Redrive } from './queues/message-groups.tsx';
import { countOf, groupsOf, queuesOf, redriveQueues } from './queues/named-queue.ts';
import { formatRoute, navigate, route } from './route.ts';
import { changes, stack } from './store.ts';
import { Empty, Problems } from './ui/badge.tsx';
import { LoadNote, Refresh, useLoad } from './ui/use-load.tsx';
import { useRun } from './use-run.tsx';

/** Dead letters of all events, or of one, by reason: `#/dead-letters?event=<event>`. */
export function DeadLettersView() {
  const act = useRun();
  const loaded = useLoad('dead letters', api.deadLetters, changes);
  const { messages: all = [], problems = [], limited = [] } = loaded.value ?? {};
  const { event = '' } = route.value.query;
  const messages = all.filter((message) => event === '' || message.event === event);
  return (
    <div class="page">
      <div class="stack">
        {(all.length > 0 || event !== '') && (
          <header class="row">
            <h2 class="intro">
              {counted(countOf(messages), 'dead letter')}, {counted(groupsOf(messages).length, 'reason')}
            </h2>
            <EventSelect of={queuesOf(all)} value={event} />
            <Refresh of={loaded} />
            {messages.length > 0 && (
              <Redrive
                messages={messages}
                text={event === '' ? 'Redrive all' : `Redrive ${event}`}
                commands={redriveQueues}
                act={act}
              />
            )}
          </header>
        )}
        <LoadNote of={loaded} />
        <Problems
          problems={[
            ...problems,
            ...limited.map((name) => `${name} has more dead letters than are shown here.`),
          ]}
        />
        {loaded.value !== undefined && messages.length === 0 && <NoDeadLetters event={event} />}
        {messages.length > 0 && <MessageGroups messages={messages} hasEvent act={act} />}
      </div>
    </div>
  );
}

interface EventSelectProps {
  of: ReturnType<typeof queuesOf>;
  value: string;
}

function EventSelect({ of: events, value }: EventSelectProps) {
  if (events.length < 2 && value === '') return null;
  return (
    <select
      class="field"
      aria-label="Event"
      value={value}
      onChange={({ currentTarget }) =>
        navigate({ view: 'dead-letters', query: { event: currentTarget.value } })
      }
    >
      <option value="">All events</option>
      {!events.some(({ name }) => name === value) && value !== '' && <option value={value}>{value}</option>}
      {events.map(({ name, count }) => (
        <option key={name} value={name}>
          {name} ({count.toLocaleString('en')})
        </option>
      ))}
    </select>
  );
}

function NoDeadLetters({ event }: { event: string }) {
  return (
    <Empty title={event === '' ? 'No dead letters' : `No dead letters of ${event}`}>
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
