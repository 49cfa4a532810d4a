import { signal, useSignal } from '@preact/signals';
import { counted } from '../../../terminal/text.ts';
import type { NeedsYouMessage } from '../../api.ts';
import { api } from '../api.ts';
import { countOf, discardMessages, type Messages, redriveMessages, redriveQueues } from '../command.ts';
import { formatRoute, navigate, route } from '../route.ts';
import { changes, stack } from '../store.ts';
import { Code } from '../text/code.tsx';
import { formatted } from '../text/format-json.ts';
import { Visible } from '../text/visible.tsx';
import { Badge, Empty, Problems, shortId } from '../ui/badge.tsx';
import { Button, CheckBox, Disclose } from '../ui/button.tsx';
import { ReasonDialog } from '../ui/dialog.tsx';
import { Table } from '../ui/table.tsx';
import { Age } from '../ui/time.tsx';
import { LoadNote, useLoad } from '../ui/use-load.tsx';
import { useRun } from '../use-run.tsx';

/** Maximum number of messages for which all groups are open at first. */
const MAX_OPEN_MESSAGES = 10;

/** Ids of the messages whose boxes are checked, in any group. */
const selected = signal<ReadonlySet<string>>(new Set());

/** The messages that the user is about to discard. */
const discarded = signal<Messages>([]);

/** Messages that wait for a person, by queue and reason: `#/needs-you?search=<a queue's name or a shop's id>`. */
export function NeedsYouView() {
  const { start } = useRun();
  const loaded = useLoad('needs you', api.needsYou, changes.value);
  const { messages: all = [], problems = [], limited = [] } = loaded.value ?? {};
  const { search = '' } = route.value.query;
  const messages = ofQueueOrShop(all, search);
  const groups = groupsOf(messages);
  const chosen = messages.filter(({ id }) => selected.value.has(id));
  const isAll = chosen.length === 0;
  return (
    <div class="page">
      <div class="stack">
        {(all.length > 0 || search !== '') && (
          <header class="row">
            <h2 class="grow">
              {counted(countOf(messages), 'message')}, {counted(groups.length, 'reason')}
            </h2>
            <input
              class="field"
              aria-label="Queue or shop"
              placeholder="Queue or shop"
              list="queues-and-shops"
              autocomplete="off"
              spellcheck={false}
              value={search}
              onInput={({ currentTarget: { value } }) =>
                navigate({ view: 'needs-you', query: { search: value.trim() } }, { replace: true })
              }
            />
            <datalist id="queues-and-shops">
              {[...new Set(all.flatMap(({ queue, shopId = '' }) => [queue, shopId]))].map((value) => (
                <option key={value} value={value} />
              ))}
            </datalist>
            {!stack.local && <Button onClick={loaded.reload}>Refresh</Button>}
            {messages.length > 0 && (
              <Actions
                of={isAll ? messages : chosen}
                name={isAll ? 'all' : `${countOf(chosen).toLocaleString('en')} selected`}
                isWhole={isAll && messages.every(({ queue }) => search === '' || queue === search)}
              />
            )}
          </header>
        )}
        <LoadNote of={loaded} />
        <Problems
          problems={[...problems, ...limited.map((name) => `${name} has more messages than are shown here.`)]}
        />
        {loaded.value !== undefined && messages.length === 0 && <Nothing />}
        {groups.map(({ id, messages: own }) => (
          <Group
            key={id}
            messages={own}
            isFirstOpen={groups.length === 1 || messages.length <= MAX_OPEN_MESSAGES}
          />
        ))}
      </div>
      {discarded.value.length > 0 && (
        <ReasonDialog
          title={`Discard ${counted(countOf(discarded.value), 'message')}`}
          text="They are deleted for good. Redrive them instead if their events still count."
          action="Discard"
          onReason={(reason) => start(discardMessages(discarded.value, reason))}
          onClose={() => {
            discarded.value = [];
          }}
        />
      )}
    </div>
  );
}

/**
 * Groups messages that were set aside on one queue for the same reason, the largest group first. In a group, the newest
 * message is first.
 */
export const groupsOf = (messages: Messages): { id: string; messages: Messages }[] =>
  [...Map.groupBy(messages, ({ queue, reason }) => `${queue} ${reason}`)]
    .map(([id, own]) => ({
      id,
      messages: own.toSorted((one, other) => (one.sentAt < other.sentAt ? 1 : -1)),
    }))
    .sort((one, other) => countOf(other.messages) - countOf(one.messages));

/** The messages of one queue, or of one shop on any queue: its whole id, so that an action takes no other shop's. */
export const ofQueueOrShop = (messages: Messages, search: string): Messages =>
  search === '' ? messages : messages.filter(({ queue, shopId }) => queue === search || shopId === search);

interface ActionsProps {
  of: Messages;
  /** What the buttons act on. */
  name: string;
  /** Whether to act on everything on the queues, with what is not shown. */
  isWhole?: boolean;
  /** Whether the name stands beside the buttons. */
  isNamed?: boolean;
}

function Actions({ of: messages, name, isWhole = false, isNamed = false }: ActionsProps) {
  const { start, ...state } = useRun();
  const textOf = (action: string) => (isNamed ? action : `${action} ${name}`);
  return (
    <div class="row end">
      <Button
        {...state}
        kind={messages.length > 1 ? 'normal' : 'quiet'}
        label={`Redrive ${name}`}
        onClick={() => start(isWhole ? redriveQueues(messages) : redriveMessages(messages))}
      >
        {textOf('Redrive')}
      </Button>
      <Button
        {...state}
        kind="quiet"
        label={`Discard ${name} …`}
        onClick={() => {
          discarded.value = messages;
        }}
      >
        {textOf('Discard')} …
      </Button>
    </div>
  );
}

function Group({ messages, isFirstOpen }: { messages: Messages; isFirstOpen: boolean }) {
  const isOpen = useSignal(isFirstOpen);
  const [{ queue, reason } = { queue: '', reason: '' }] = messages;
  const [firstAt = ''] = messages.map(({ firstSentAt }) => firstSentAt).sort();
  const count = counted(countOf(messages), 'message');
  const name = `${count} of ${queue}: ${reason}`;
  return (
    <section class="card" aria-label={name}>
      <header class="row">
        <div class="grow">
          <Disclose
            open={isOpen.value}
            onToggle={() => {
              isOpen.value = !isOpen.value;
            }}
          >
            <span class="wrap">
              {queue}: <Visible text={reason} />
            </span>
          </Disclose>
        </div>
        <span class="soft">
          {count}, the first <Age at={firstAt} />
        </span>
        <Actions of={messages} name={name} isNamed />
      </header>
      {isOpen.value && <MessageTable label={`Messages of ${queue}: ${reason}`} messages={messages} />}
    </section>
  );
}

function MessageTable({ label, messages }: { label: string; messages: Messages }) {
  const open = useSignal<ReadonlySet<string>>(new Set());
  return (
    <Table
      label={label}
      rows={messages}
      idOf={({ id }) => id}
      columns={[
        {
          name: 'payload',
          heading: 'Payload',
          width: 'minmax(0, 1fr)',
          cell: ({ id, copies, preview = 'A large payload' }) => (
            <div class="check">
              <CheckBox
                name={`Select message ${id}`}
                checked={selected.value.has(id)}
                onChange={() => {
                  selected.value = toggled(selected.value, id);
                }}
              />
              <Disclose
                open={open.value.has(id)}
                onToggle={() => {
                  open.value = toggled(open.value, id);
                }}
              >
                <code class="cut">
                  <Visible text={preview === '' ? 'An empty payload' : preview} />
                </code>
              </Disclose>
              {copies > 1 && <Badge>{copies.toLocaleString('en')} copies</Badge>}
            </div>
          ),
        },
        {
          name: 'shop',
          heading: 'Shop',
          width: 'fit-content(160px)',
          cell: ({ shopId = '' }) => (
            <div class="cut" title={shopId}>
              <Visible text={shopId} />
            </div>
          ),
        },
        { name: 'id', heading: 'Event id', cell: eventLink },
        { name: 'age', heading: 'Age', end: true, cell: ({ sentAt }) => <Age at={sentAt} suffix="" /> },
        {
          name: 'act',
          heading: 'Actions',
          cell: (message) => <Actions of={[message]} name={`message ${message.id}`} isNamed />,
        },
      ]}
      below={(message) => open.value.has(message.id) && <OpenMessage {...message} />}
    />
  );
}

/** A set with an id added, or without it if it was there. */
function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}

/**
 * Link to the list of deliveries. The search also finds repeated deliveries, and those of a stage that are
 * older than the list.
 */
function eventLink({ id, eventId, requestId }: NeedsYouMessage) {
  if (eventId === undefined) return <code title={id}>{shortId(id)}</code>;
  return (
    <a href={formatRoute({ view: 'deliveries', id: requestId, query: { search: eventId } })}>
      <code title={eventId}>{shortId(eventId)}</code>
    </a>
  );
}

function OpenMessage({ id, eventId = id, copies, firstSentAt }: NeedsYouMessage) {
  const loaded = useLoad(id, (signal) => api.messageBody(id, signal));
  const { value } = loaded;
  return (
    <div class="stack">
      {copies > 1 && (
        <p class="soft">
          {copies.toLocaleString('en')} copies, the first from <Age at={firstSentAt} />: the sender repeated
          the same bytes. A redrive includes them.
        </p>
      )}
      {value?.isUtf8 === false && <p class="soft">Not UTF-8: invalid bytes are replaced.</p>}
      <LoadNote of={loaded} />
      {value !== undefined && (
        <Code text={formatted(value.text) ?? value.text} label={`Payload of ${shortId(eventId)}`} />
      )}
    </div>
  );
}

function Nothing() {
  const { search } = route.value.query;
  if (search) {
    return (
      <Empty title="No message matches">
        <p>The filter takes the whole name of a queue, or the whole id of a shop.</p>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing needs you">
      <p>
        An event that failed ten times, or cannot be processed, becomes a dead letter. Quarantine holds signed
        requests that are not valid events, unrouted holds events of an unknown kind. They are kept here with
        the reason for 14 days. Fix the cause, then redrive them.
      </p>
    </Empty>
  );
}
