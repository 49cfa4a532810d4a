import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { NeedsYouMessage } from '../../api.ts';
import { api } from '../api.ts';
import { formatRoute } from '../route.ts';
import { Code } from '../text/code.tsx';
import { formatted } from '../text/format-json.ts';
import { Visible } from '../text/visible.tsx';
import { Quantity } from '../ui/badge.tsx';
import { Button, Disclose } from '../ui/button.tsx';
import { Copy, shortId } from '../ui/copy.tsx';
import { Table, type TableColumn, toggled } from '../ui/table.tsx';
import { Age } from '../ui/time.tsx';
import { LoadNote, useLoad } from '../ui/use-load.tsx';

/**
 * Rows shown at first, and added by each click on "Show more". Thousands of rows would take seconds to draw.
 */
const ROWS = 50;

interface MessageTableProps {
  label: string;
  messages: readonly NeedsYouMessage[];
  /** The buttons at the end of a message's row. */
  act: (message: NeedsYouMessage) => ComponentChildren;
}

export function MessageTable({ label, messages, act }: MessageTableProps) {
  const open = useSignal<ReadonlySet<string>>(new Set());
  const count = useSignal(ROWS);
  const shown = messages.slice(0, count.value);
  const columns: TableColumn<NeedsYouMessage>[] = [
    {
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
    { name: 'copies', heading: 'Copies', end: true, cell: ({ copies }) => <Quantity of={copies} /> },
    { name: 'act', heading: 'Actions', hidesHeading: true, cell: act },
  ];
  return (
    <>
      <Table
        class="messages"
        label={label}
        columns={columns}
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

/**
 * Link to the list of deliveries. The search also finds repeated deliveries, and those of a stage that are
 * older than the list.
 */
function eventLink({ id, eventId, requestId }: NeedsYouMessage) {
  if (eventId === undefined) return <code title={id}>{shortId(id)}</code>;
  const path = requestId === undefined ? [] : [requestId];
  return (
    <a href={formatRoute({ view: 'deliveries', path, query: { search: eventId } })}>
      <code title={eventId}>{shortId(eventId)}</code>
    </a>
  );
}

function OpenMessage({ message: { queue, id, eventId, copies, firstSentAt } }: { message: NeedsYouMessage }) {
  const { value, ...state } = useLoad(`${queue}/${id}`, (signal) => api.messageBody(queue, id, signal));
  return (
    <div class="stack">
      <div class="row soft">
        <span>
          Message id <code title={id}>{shortId(id)}</code> <Copy text={id} label="Copy the message id" />
        </span>
        {copies > 1 && (
          <span>
            {copies.toLocaleString('en')} copies, the first from <Age at={firstSentAt} />: the sender repeated
            the same bytes. A redrive includes them.
          </span>
        )}
        {value?.isUtf8 === false && <span>Not UTF-8: invalid bytes are replaced.</span>}
      </div>
      <LoadNote of={{ value, ...state }} />
      {value !== undefined && (
        <Code text={formatted(value.text) ?? value.text} label={`Payload of ${shortId(eventId ?? id)}`} />
      )}
    </div>
  );
}
