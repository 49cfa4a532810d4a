import type { QueueMessages, Queues } from '../../api.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { Icon } from '../shared/icon.tsx';
import { Loading } from '../shared/loading.tsx';
import { useLoad } from '../shared/use-load.ts';
import { usePane } from '../shared/use-pane.ts';
import { REFRESH, useRefresh } from '../shared/use-refresh.ts';
import { useConsole } from '../shell/context.ts';
import { formatRoute } from '../shell/route.ts';
import { ActButton } from '../tasks/act-button.tsx';
import { useAct, useTaskEnds } from '../tasks/tasks-context.tsx';
import { QueueMessageItem } from './queue-message-item.tsx';
import { deadName, namedQueue } from './queue-names.ts';

/** Messages that are looked at. */
const LOOKED_AT = 50;

const NOTHING: QueueMessages = { messages: [], limited: false };

/** What is on a queue, without taking anything away. */
export function QueueMessagesPane({ name, queues }: { name: string; queues: Queues | undefined }) {
  const { api, stack } = useConsole();
  const { run, busy, error, refusal } = useAct();
  const { event, isDead } = namedQueue(name);
  const waitsForSomebody = isDead || event === undefined;
  /** In a stage, where looking is receiving. */
  const isClosed = !stack.local && !waitsForSomebody;
  const messages = useLoad(name, (signal) =>
    isClosed
      ? Promise.resolve(NOTHING)
      : api.get<QueueMessages>(`/api/queues/${encodeURIComponent(name)}/messages?limit=${LOOKED_AT}`, signal),
  );
  useRefresh(messages, stack.local ? REFRESH : undefined);
  useTaskEnds(messages.reload);
  const list = formatRoute({ view: 'queues' });
  const heading = usePane(list, formatRoute({ view: 'queues', path: [name] }));

  const found = messages.value?.messages ?? [];
  const depth = queues?.events.find((queue) => queue.event === event);
  const redriveQueue = event ?? name;
  return (
    <section class="split-pane" aria-label={`Messages of ${name}`}>
      <header class="pane-head">
        <a class="icon-button pane-back" href={list} aria-label="Back to the queues">
          <Icon name="back" />
        </a>
        <h2 ref={heading} tabIndex={-1}>
          {event ?? name}
        </h2>
        <div class="pane-acts">
          {!stack.local && !isClosed && (
            <button type="button" class="button button-quiet" onClick={messages.reload}>
              Look again
            </button>
          )}
          {waitsForSomebody && found.length > 0 && (
            <ActButton
              refusal={refusal}
              busy={busy}
              onClick={() => run([{ kind: 'redrive', queue: redriveQueue }])}
            >
              Redrive all
            </ActButton>
          )}
          <a class="icon-button pane-close" href={list} aria-label="Close the queue">
            <Icon name="close" />
          </a>
        </div>
      </header>
      {event !== undefined && (
        <nav class="pane-nav" aria-label={`Queues of ${event}`}>
          <a href={formatRoute({ view: 'queues', path: [event] })} aria-current={isDead ? undefined : 'page'}>
            On its queue <span class="soft">{sum(depth)}</span>
          </a>
          <a
            href={formatRoute({ view: 'queues', path: [deadName(event)] })}
            aria-current={isDead ? 'page' : undefined}
          >
            Dead letters <span class="soft">{sum(depth?.dead)}</span>
          </a>
        </nav>
      )}
      <div class="pane-body">
        {error !== undefined && <ErrorNote>{error}</ErrorNote>}
        {messages.error !== undefined && <ErrorNote>{messages.error}</ErrorNote>}
        {messages.value === undefined && messages.error === undefined && <Loading />}
        {isClosed && (
          <p class="pane-empty soft">
            SQS shows a message only to who receives it, and each receive is one of its ten attempts: so
            nobody looks here. What is on its way stands under{' '}
            <a href={formatRoute({ view: 'deliveries', query: { event, state: 'queued,retrying' } })}>
              Deliveries
            </a>
            .
          </p>
        )}
        {!isClosed && messages.value !== undefined && found.length === 0 && messages.error === undefined && (
          <p class="pane-empty soft">{emptyText(name)}</p>
        )}
        <ol
          class="messages"
          aria-label={`Messages, ${found.length}${messages.value?.limited ? ' of more' : ''}`}
        >
          {found.map((message) => (
            <QueueMessageItem
              key={message.id}
              message={message}
              {...(waitsForSomebody && {
                redrive: {
                  refusal,
                  busy,
                  onClick: () => run([{ kind: 'redrive', queue: redriveQueue, ids: [message.id] }]),
                },
              })}
            />
          ))}
        </ol>
        {messages.value?.limited && (
          <p class="pane-empty soft">There are more: a look ends after {found.length}.</p>
        )}
      </div>
    </section>
  );
}

const sum = (depth: { visible: number; inFlight: number } | undefined) =>
  depth === undefined ? '' : (depth.visible + depth.inFlight).toLocaleString('en');

function emptyText(name: string): string {
  const { event, isDead } = namedQueue(name);
  if (isDead) return `No delivery of ${event} was given up.`;
  if (event !== undefined)
    return 'Nothing waits: a delivery stays here for some milliseconds, unless something is wrong.';
  if (name === 'quarantine') return 'Nothing was signed by the partner and yet no usable event.';
  return 'No event came of a kind that nobody knows.';
}
