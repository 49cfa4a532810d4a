import { useEffect, useRef, useState } from 'preact/hooks';
import type { PayloadSearch } from '../../api.ts';

/** A screen reader is told of new deliveries this often at most. */
const TOLD_EVERY_MS = 5_000;

interface ListSummaryProps {
  shown: number;
  total: number;
  newer: number;
  ready: boolean;
  /** The server does not take the filter. */
  refused: boolean;
  filtered: boolean;
  held: boolean;
  searched: PayloadSearch | undefined;
}

/** Below the list: how many there are, and how far was looked. */
export function ListSummary({
  shown,
  total,
  newer,
  ready,
  refused,
  filtered,
  held,
  searched,
}: ListSummaryProps) {
  const count = shown.toLocaleString('en');
  const all = `${count} ${shown === 1 ? 'delivery' : 'deliveries'}`;
  const text = refused
    ? 'Not loaded'
    : !ready
      ? 'Loading …'
      : total > shown + newer
        ? `The newest ${count} of ${total.toLocaleString('en')} deliveries`
        : `${all}${filtered ? (shown === 1 ? ' matches' : ' match') : ''}`;
  return (
    <footer class="list-summary">
      <span>{text}</span>
      {searched !== undefined && <span title={searchTitle(searched)}>{searchText(searched)}</span>}
      <span class="list-mode">{held ? 'Held still' : 'Following'}</span>
      <Announcement count={shown + newer} ready={ready} />
    </footer>
  );
}

function searchText({ refused, records, limited }: PayloadSearch): string {
  if (refused !== undefined) return `Payloads not searched: ${refused}`;
  return `${records.toLocaleString('en')} payloads searched${limited ? ', not all' : ''}`;
}

function searchTitle({ since, objects }: PayloadSearch): string {
  return `${objects.toLocaleString('en')} objects of the archive, none older than ${since}`;
}

function Announcement({ count, ready }: { count: number; ready: boolean }) {
  const [text, setText] = useState('');
  const latest = useRef(count);
  const told = useRef(count);
  const wasReady = useRef(ready);
  latest.current = count;
  // What was there from the start, or is there by another filter, is not new.
  if (!ready || !wasReady.current) told.current = count;
  wasReady.current = ready;
  useEffect(() => {
    const timer = setInterval(() => {
      const more = latest.current - told.current;
      told.current = latest.current;
      setText(more > 0 ? `${more} new ${more === 1 ? 'delivery' : 'deliveries'}` : '');
    }, TOLD_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <span class="visually-hidden" aria-live="polite">
      {text}
    </span>
  );
}
