import { useSignal } from '@preact/signals';
import type { Effect, ItemEffect, NotificationEffect, PlainItem } from '../../../stage/history/facts.ts';
import { Visible } from '../text/visible.tsx';
import { Badge } from '../ui/badge.tsx';
import { Time } from '../ui/time.tsx';

export function Effects({ effects }: { effects: readonly Effect[] }) {
  if (effects.length === 0) return null;
  return (
    <section class="stack">
      <h3>What changed</h3>
      {effects.map((effect, index) =>
        effect.kind === 'item' ? (
          <ItemCard key={index} effect={effect} />
        ) : (
          <NotificationCard key={index} effect={effect} />
        ),
      )}
    </section>
  );
}

function ItemCard({ effect }: { effect: ItemEffect }) {
  const { table, key, at, before, after, now, written } = effect;
  const isKnown = before !== undefined || after !== undefined;
  const changes = isKnown ? diffItems(before ?? null, after ?? null) : diffItems(now ?? null, now ?? null);
  return (
    <article class="card">
      <header>
        <h4 title={table}>{tableTitle(table)}</h4>
        <span class="mono grow">
          <Visible text={key} />
        </span>
        {isKnown && <Badge>{itemWord(effect)}</Badge>}
        {at !== undefined && <Time at={at} milliseconds />}
      </header>
      {!isKnown && (
        <p class="soft">
          {now == null ? 'The item does not exist now.' : `The item as it is now, written ${written ?? ''}.`}
        </p>
      )}
      {changes.length > 0 && <Diff changes={changes} />}
    </article>
  );
}

/** A table's name for people: `Shop cache` for `ShopCacheTable`. */
function tableTitle(output: string): string {
  const words = output.replace(/Table$/, '').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}

const itemWord = ({ before, after }: ItemEffect) =>
  before == null ? 'Item added' : after == null ? 'Item deleted' : 'Item changed';

/** One attribute of an item before and after, as JSON text. */
interface AttributeChange {
  readonly name: string;
  readonly kind: 'added' | 'removed' | 'changed' | 'same';
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** All attributes of an item with their changes, in the order of the newer version, removed ones last. */
export function diffItems(before: PlainItem | null, after: PlainItem | null): AttributeChange[] {
  const [old, now] = [textsOf(before), textsOf(after)];
  return [...new Set([...now.keys(), ...old.keys()])].map((name) => {
    const [older, newer] = [old.get(name), now.get(name)];
    if (older === undefined) return { name, kind: 'added', after: newer };
    if (newer === undefined) return { name, kind: 'removed', before: older };
    return { name, kind: older === newer ? 'same' : 'changed', before: older, after: newer };
  });
}

const textsOf = (item: PlainItem | null) =>
  new Map(Object.entries(item ?? {}).map(([name, value]) => [name, orderedText(value)]));

/** A value as JSON with sorted keys, so that equal values have equal texts. */
function orderedText(value: unknown): string {
  return (
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ) ?? 'undefined'
  );
}

/** How a changed line is marked: its sign, and the word that a screen reader says instead. */
const ADDED = { sign: '+', word: 'added', style: 'tone-good' };
const REMOVED = { sign: '−', word: 'removed', style: 'tone-bad' };
const LINES = {
  added: ADDED,
  removed: REMOVED,
  same: { sign: '', word: 'unchanged', style: 'soft' },
  from: { ...REMOVED, word: 'changed from' },
  to: { ...ADDED, word: 'to' },
} as const;

function Diff({ changes }: { changes: readonly AttributeChange[] }) {
  const lines = changes.flatMap(({ name, kind, before = '', after = '' }) =>
    kind === 'changed'
      ? [
          { ...LINES.from, name, value: before },
          { ...LINES.to, name, value: after },
        ]
      : [{ ...LINES[kind], name, value: kind === 'removed' ? before : after }],
  );
  return (
    <table class="diff">
      <thead class="visually-hidden">
        <tr>
          <th scope="col">Change</th>
          <th scope="col">Attribute</th>
          <th scope="col">Value</th>
        </tr>
      </thead>
      <tbody>
        {lines.map(({ sign, word, style, name, value }, index) => (
          <tr key={index} class={style}>
            <td>
              <span class="visually-hidden">{word}</span>
              <span aria-hidden="true">{sign}</span>
            </td>
            <th scope="row">
              <Visible text={name} />
            </th>
            <td>
              <Visible text={value} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** `Review notification` for the output `ReviewTopicArn`. */
export const topicTitle = (output: string) => `${tableTitle(output.replace(/TopicArn$/, ''))} notification`;

function NotificationCard({ effect: { topic, at, subject, texts } }: { effect: NotificationEffect }) {
  const protocols = Object.keys(texts);
  const chosen = useSignal(protocols.includes('email') ? 'email' : (protocols[0] ?? ''));
  return (
    <article class="card">
      <header>
        <h4 class="grow" title={topic}>
          {topicTitle(topic)}
        </h4>
        <Badge>Sent</Badge>
        <Time at={at} milliseconds />
      </header>
      <div class="stack">
        <p>
          <span class="soft">Subject</span> <Visible text={subject} />
        </p>
        <p class="command">
          <Visible text={texts[chosen.value] ?? ''} />
        </p>
        {protocols.length > 1 && (
          <fieldset class="segments" aria-label="Text by protocol">
            {protocols.map((protocol) => (
              <button
                key={protocol}
                type="button"
                aria-pressed={protocol === chosen.value}
                onClick={() => {
                  chosen.value = protocol;
                }}
              >
                {protocol}
              </button>
            ))}
          </fieldset>
        )}
      </div>
    </article>
  );
}
