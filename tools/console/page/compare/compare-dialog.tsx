import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Delivery } from '../../../stage/history/history.ts';
import { stateTitle } from '../../../stage/history/state-text.ts';
import type { DeliveryDetail } from '../../api.ts';
import { api, type DeliveryBody, errorText } from '../api.ts';
import { StateBadge } from '../deliveries/delivery-table.tsx';
import { formatRoute } from '../route.ts';
import { Visible } from '../text/visible.tsx';
import { ErrorNote } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { shortId } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { isNarrow } from '../ui/is-narrow.ts';
import { bytesText, durationText, Time } from '../ui/time.tsx';
import { LoadNote, useLoad } from '../ui/use-load.tsx';

interface CompareDialogProps {
  /** Two ids of deliveries, separated by a comma, as the address has them. */
  ids: string;
  onClose: () => void;
}

/** Two deliveries side by side, the older first. */
export function CompareDialog({ ids, onClose }: CompareDialogProps) {
  const loaded = useLoad(ids, (signal) => loadPair(ids, signal));
  return (
    <Dialog title="Compare two deliveries" width="full" onClose={onClose}>
      <LoadNote of={loaded} />
      {loaded.value !== undefined && <Comparison pair={loaded.value} />}
    </Dialog>
  );
}

interface ComparedDelivery {
  readonly detail: DeliveryDetail;
  /** Undefined if the server no longer has the body. */
  readonly body: DeliveryBody | undefined;
}

type Pair = readonly [before: ComparedDelivery, after: ComparedDelivery];

async function loadPair(ids: string, signal: AbortSignal): Promise<Pair> {
  const [one, other, ...more] = ids.split(',');
  if (!one || !other || more.length > 0) throw new Error('The address must have the ids of two deliveries.');
  const pair = [await loadOne(one, signal), await loadOne(other, signal)] as const;
  return pair[0].detail.receivedAt <= pair[1].detail.receivedAt ? pair : [pair[1], pair[0]];
}

async function loadOne(id: string, signal: AbortSignal): Promise<ComparedDelivery> {
  const detail = await api.delivery(id, signal);
  const hasBody = detail.request.bodyMissing === undefined;
  return { detail, body: hasBody ? await api.body(id, signal) : undefined };
}

function Comparison({ pair }: { pair: Pair }) {
  const [before, after] = pair;
  return (
    <>
      <ComparedFields pair={[before.detail, after.detail]} />
      {before.body === undefined || after.body === undefined ? (
        <p class="note tone-warning">
          {before.detail.request.bodyMissing ?? after.detail.request.bodyMissing} So the bodies cannot be
          compared.
        </p>
      ) : (
        <Bodies key={before.detail.id + after.detail.id} bodies={[before.body, after.body]} />
      )}
    </>
  );
}

interface ComparedField {
  readonly name: string;
  /** The value to compare. Values whose texts are equal count as equal. */
  readonly of: (delivery: Delivery) => string | number | undefined;
  /** How the value is shown. @default `of`, as text */
  readonly show?: (delivery: Delivery) => ComponentChildren;
}

const COMPARED_FIELDS: readonly ComparedField[] = [
  // The times of two deliveries always differ, so their difference is not marked.
  { name: 'Received', of: () => '', show: (one) => <Time at={one.receivedAt} milliseconds /> },
  {
    name: 'State',
    of: (one) => stateTitle(one.state).title,
    show: ({ state }) => <StateBadge state={state} />,
  },
  { name: 'Event', of: (one) => one.event },
  { name: 'Shop', of: (one) => one.shopId },
  { name: 'Response', of: (one) => one.status },
  { name: 'Attempts', of: (one) => one.attempts },
  { name: 'Duration', of: (one) => one.latencyMs && durationText(one.latencyMs) },
  { name: 'Size', of: (one) => one.bytes && bytesText(one.bytes) },
  { name: 'Event id', of: (one) => one.eventId && shortId(one.eventId) },
  { name: 'Error', of: (one) => one.error },
];

function ComparedFields({ pair }: { pair: readonly [Delivery, Delivery] }) {
  return (
    <table class="compared">
      <thead>
        <tr>
          <td />
          {pair.map(({ id }, index) => (
            <th key={id} scope="col">
              {index === 0 ? 'Older' : 'Newer'}{' '}
              <a class="mono" href={formatRoute({ view: 'deliveries', path: [id] })}>
                {id}
              </a>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {COMPARED_FIELDS.filter(({ of }) => pair.some((one) => of(one) !== undefined)).map(
          ({ name, of, show }) => {
            const isEqual = of(pair[0]) === of(pair[1]);
            return (
              <tr key={name} class={isEqual ? 'soft' : 'is-different'}>
                <th scope="row">
                  {name} {!isEqual && <span title="Different">≠</span>}
                </th>
                {pair.map((one, index) => (
                  <td key={index}>{show?.(one) ?? <Visible text={String(of(one) ?? '–')} />}</td>
                ))}
              </tr>
            );
          },
        )}
      </tbody>
    </table>
  );
}

const isEqualTo = (one: Uint8Array, other: Uint8Array) =>
  one.length === other.length && one.every((byte, at) => byte === other[at]);

function Bodies({ bodies: [one, other] }: { bodies: readonly [DeliveryBody, DeliveryBody] }) {
  const host = useRef<HTMLDivElement>(null);
  const error = useSignal<string | undefined>(undefined);
  const note = useSignal<string | undefined>(undefined);
  const showsAll = useSignal(false);
  const isEqual = useMemo(() => isEqualTo(one.bytes, other.bytes), [one, other]);
  const [before, after] = [one.text, other.text];
  useEffect(() => {
    if (isEqual) return;
    let isGone = false;
    let unmount = () => {};
    import('./mount-diff.ts').then(
      ({ mountDiff }) => {
        if (isGone || host.current === null) return;
        const options = { before, after, isNarrow: isNarrow.value, showsAll: showsAll.value };
        const diff = mountDiff(host.current, options);
        unmount = diff.destroy;
        note.value = diff.note;
      },
      (failure) => {
        error.value = `The bodies could not be compared: ${errorText(failure)}`;
      },
    );
    return () => {
      isGone = true;
      unmount();
    };
  }, [before, after, showsAll.value, isNarrow.value]);
  return (
    <section class="stack" aria-label="Difference of the bodies">
      <div class="row">
        <h3 class="grow">Bodies</h3>
        {!isEqual && (
          <Button
            kind="quiet"
            onClick={() => {
              showsAll.value = !showsAll.value;
            }}
          >
            {showsAll.value ? 'Show only differences' : 'Show all lines'}
          </Button>
        )}
      </div>
      <ErrorNote>{error.value}</ErrorNote>
      {note.value !== undefined && <p class="note tone-warning">{note.value}</p>}
      {isEqual ? <p class="soft">Both have the same bytes.</p> : <div ref={host} class="viewer" />}
    </section>
  );
}
