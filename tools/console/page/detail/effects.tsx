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

function ItemCard({ effect: { table, key, at, before, after, now, written } }: { effect: ItemEffect }) {
  const isKnown = before !== undefined || after !== undefined;
  const lines = isKnown ? diffItems(before ?? {}, after ?? {}) : diffItems(now ?? {}, now ?? {});
  return (
    <article class="card">
      <header>
        <h4>{outputTitle(table)}</h4>
        <span class="mono grow">
          <Visible text={key} />
        </span>
        {isKnown && (
          <Badge>{before == null ? 'Item added' : after == null ? 'Item deleted' : 'Item changed'}</Badge>
        )}
        {at !== undefined && <Time at={at} milliseconds />}
      </header>
      {!isKnown && (
        <p class="soft">
          {now == null ? 'The item does not exist now.' : `The item as it is now, written ${written ?? ''}.`}
        </p>
      )}
      {lines.length > 0 && <Diff lines={lines} />}
    </article>
  );
}

/** The name of a stack's output for people: `Shop cache` for `ShopCacheTable`, `Review` for `ReviewTopicArn`. */
export function outputTitle(output: string): string {
  const words = output.replace(/(Table|TopicArn)$/, '').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}

/** The sign of a line. A screen reader says the word instead. */
const SIGNS = { added: '+', removed: '−', unchanged: '' } as const;
const STYLES = { added: 'tone-good', removed: 'tone-bad', unchanged: 'soft' } as const;

interface DiffLine {
  readonly name: string;
  readonly kind: keyof typeof SIGNS;
  /** As JSON text. */
  readonly value: string;
}

/**
 * All attributes of an item in the order of the newer version, removed ones last. A changed one has two lines. The
 * attributes of objects come in one order, because DynamoDB has none.
 */
export function diffItems(before: PlainItem, after: PlainItem): DiffLine[] {
  const [old, now] = [textsOf(before), textsOf(after)];
  return [...new Set([...now.keys(), ...old.keys()])].flatMap((name): DiffLine[] => {
    const [older, newer] = [old.get(name), now.get(name)];
    if (older === newer && newer !== undefined) return [{ name, kind: 'unchanged', value: newer }];
    return [
      ...(older === undefined ? [] : [{ name, kind: 'removed', value: older } as const]),
      ...(newer === undefined ? [] : [{ name, kind: 'added', value: newer } as const]),
    ];
  });
}

const textsOf = (item: PlainItem) =>
  new Map(Object.entries(item).map(([name, value]) => [name, JSON.stringify(value, withSortedKeys) ?? '']));

const withSortedKeys = (_key: string, value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

const Diff = ({ lines }: { lines: readonly DiffLine[] }) => (
  <table class="diff">
    <thead class="visually-hidden">
      <tr>
        <th scope="col">Change</th>
        <th scope="col">Attribute</th>
        <th scope="col">Value</th>
      </tr>
    </thead>
    <tbody>
      {lines.map(({ name, kind, value }, index) => (
        <tr key={index} class={STYLES[kind]}>
          <td>
            <span class="visually-hidden">{kind}</span>
            <span aria-hidden="true">{SIGNS[kind]}</span>
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

const NotificationCard = ({ effect: { topic, at, subject, texts } }: { effect: NotificationEffect }) => (
  <article class="card">
    <header>
      <h4 class="grow">{outputTitle(topic)} notification</h4>
      <Badge>Sent</Badge>
      <Time at={at} milliseconds />
    </header>
    <div class="stack">
      <p>
        <span class="soft">Subject</span> <Visible text={subject} />
      </p>
      {[...new Set(Object.values(texts))].map((text) => (
        <p key={text} class="command">
          <Visible text={text} />
        </p>
      ))}
    </div>
  </article>
);
