import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { QueueMessage } from '../../api.ts';
import { api } from '../api.ts';
import { formatRoute } from '../route.ts';
import { TextView } from '../text/text-view.tsx';
import { Visible } from '../text/visible.tsx';
import { Badge, Quantity } from '../ui/badge.tsx';
import { Button, Disclose } from '../ui/button.tsx';
import { Copy, shortId } from '../ui/copy.tsx';
import { Table, type TableColumn, toggled } from '../ui/table.tsx';
import { Age } from '../ui/time.tsx';
import { LoadNote, useLoad } from '../ui/use-load.tsx';
import { namedQueue } from './named-queue.ts';

/**
 * Rows shown at first, and added by each click on "Show more". Thousands of rows would take seconds to draw.
 */
const ROWS = 50;

const BODY_ROWS = 20;

const STATES = {
  waiting: { tone: 'neutral', text: 'Waiting' },
  'in flight': { tone: 'info', text: 'In flight' },
  delayed: { tone: 'warning', text: 'Delayed' },
} as const;

interface MessageTableProps {
  label: string;
  messages: readonly QueueMessage[];
  /** Whether to show the state. Messages that were set aside have no other state than waiting. */
  hasState: boolean;
  /** The button at the end of a message's row. */
  act?: (message: QueueMessage) => ComponentChildren;
}

/** Messages of a queue. A column that would say the same in each row is left out, such as the event. */
export function MessageTable({ label, messages, hasState, act }: MessageTableProps) {
  const open = useSignal<ReadonlySet<string>>(new Set());
  const count = useSignal(ROWS);
  const shown = messages.slice(0, count.value);
  const isMeant = {
    event:
      new Set(messages.map(({ event }) => event)).size > 1 ||
      messages.some(({ event, queue }) => event !== undefined && namedQueue(queue).event === undefined),
    shop: messages.some(({ shopId }) => shopId !== undefined),
    state: hasState,
    // Without a consumer, receives come only from reading the queue, so their number says nothing about
    // attempts.
    receives: hasState && messages.some(({ receives }) => receives > 0),
    copies: messages.some(({ copies }) => copies > 1),
  };
  const payload: TableColumn<QueueMessage> = {
    name: 'payload',
    heading: 'Payload',
    width: 'minmax(0, 1fr)',
    cell: ({ id, preview }) => (
      <Disclose
        open={open.value.has(id)}
        onToggle={() => {
          open.value = toggled(open.value, id);
        }}
      >
        <Preview text={preview} />
      </Disclose>
    ),
  };
  const columns = [
    payload,
    ...FIELD_COLUMNS.filter(({ name }) => isMeant[name as keyof typeof isMeant] ?? true),
  ];
  return (
    <>
      <Table
        class="messages"
        label={label}
        columns={[
          ...columns,
          ...(act === undefined
            ? []
            : [{ name: 'act', heading: 'Redrive', hidesHeading: true, end: true, cell: act }]),
        ]}
        rows={shown}
        idOf={({ id }) => id}
        below={(message) => open.value.has(message.id) && <OpenMessage message={message} />}
      />
      {shown.length < messages.length && (
        <Button
          kind="quiet"
          onClick={() => {
            count.value += ROWS;
          }}
        >
          Show more: {shown.length} of {messages.length.toLocaleString('en')}
        </Button>
      )}
    </>
  );
}

function Preview({ text }: { text: string | undefined }) {
  if (text === undefined) return <span class="soft">Large payload</span>;
  if (text === '') return <span class="soft">Empty payload</span>;
  return (
    <code class="cut">
      <Visible text={text} />
    </code>
  );
}

const FIELD_COLUMNS: readonly TableColumn<QueueMessage>[] = [
  { name: 'event', heading: 'Event', cell: ({ event = '' }) => <Visible text={event} /> },
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
  {
    name: 'id',
    heading: 'Event id',
    cell: (message) => {
      const { id, eventId = id } = message;
      const short = <code title={eventId}>{shortId(eventId)}</code>;
      const address = deliveryAddress(message);
      return address === undefined ? short : <a href={address}>{short}</a>;
    },
  },
  {
    name: 'state',
    heading: 'State',
    cell: ({ state }) => <Badge tone={STATES[state].tone}>{STATES[state].text}</Badge>,
  },
  { name: 'age', heading: 'Age', end: true, cell: ({ sentAt }) => <Age at={sentAt} suffix="" /> },
  { name: 'receives', heading: 'Receives', end: true, cell: ({ receives }) => <Quantity of={receives} /> },
  { name: 'copies', heading: 'Copies', end: true, cell: ({ copies }) => <Quantity of={copies} /> },
];

/**
 * Link to the list of deliveries. The search also finds repeated deliveries, and those of a stage that are
 * older than the list.
 */
function deliveryAddress({ eventId, requestId }: QueueMessage): string | undefined {
  if (eventId === undefined) return undefined;
  const path = requestId === undefined ? [] : [requestId];
  return formatRoute({ view: 'deliveries', path, query: { search: eventId } });
}

function OpenMessage({ message: { queue, id, eventId, copies, firstSentAt } }: { message: QueueMessage }) {
  const { value, ...state } = useLoad(`${queue}/${id}`, (signal) => api.messageBody(queue, id, signal));
  const name = shortId(eventId ?? id);
  return (
    <div class="stack">
      <div class="row soft">
        {eventId !== undefined && <ShortId name="Event id" id={eventId} />}
        <ShortId name="Message id" id={id} />
        {copies > 1 && (
          <span>
            {copies.toLocaleString('en')} copies, the first from <Age at={firstSentAt} />: the sender repeated
            the same bytes. A redrive includes them.
          </span>
        )}
        {value?.isUtf8 === false && <span>Not UTF-8: invalid bytes are replaced.</span>}
      </div>
      <LoadNote of={{ value, ...state }} />
      {value !== undefined && <TextView text={value.text} label={`Payload of ${name}`} rows={BODY_ROWS} />}
    </div>
  );
}

const ShortId = ({ name, id }: { name: string; id: string }) => (
  <span>
    {name} <code title={id}>{shortId(id)}</code> <Copy text={id} label={`Copy the ${name.toLowerCase()}`} />
  </span>
);
