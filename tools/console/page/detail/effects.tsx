import type { ComponentChildren } from 'preact';
import type { Effect, ItemEffect, PlainItem } from '../../../stage/history/facts.ts';
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
          <Card
            key={index}
            title={`${outputTitle(effect.topic)} notification`}
            about={effect.subject}
            badge="Sent"
            at={effect.at}
          >
            {[...new Set(Object.values(effect.texts))].map((text) => (
              <p key={text} class="command">
                <Visible text={text} />
              </p>
            ))}
          </Card>
        ),
      )}
    </section>
  );
}

interface CardProps {
  title: string;
  about: string;
  badge?: string | undefined;
  at?: string | undefined;
  children: ComponentChildren;
}

const Card = ({ title, about, badge, at, children }: CardProps) => (
  <article class="card">
    <header class="row">
      <h4>{title}</h4>
      <span class="mono grow">
        <Visible text={about} />
      </span>
      {badge !== undefined && <Badge>{badge}</Badge>}
      {at !== undefined && <Time at={at} milliseconds />}
    </header>
    {children}
  </article>
);

function ItemCard({ effect: { table, key, at, before, after, now, written } }: { effect: ItemEffect }) {
  // A stage knows only the item as it is now.
  const text =
    now == null ? 'The item does not exist now.' : `The item as it is now, written ${written ?? ''}.`;
  const change = before == null ? 'Item added' : after == null ? 'Item deleted' : 'Item changed';
  const isNow = before === undefined && after === undefined;
  return (
    <Card title={outputTitle(table)} about={key} badge={isNow ? undefined : change} at={at}>
      {isNow && <p class="soft">{text}</p>}
      <Versions of={{ Before: before, After: after, Now: now }} />
    </Card>
  );
}

/** The name of a stack's output for people: `Shop cache` for `ShopCacheTable`, `Review` for `ReviewTopicArn`. */
export function outputTitle(output: string): string {
  const words = output.replace(/(Table|TopicArn)$/, '').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}

/** A table of the versions of an item that exist, with the version of each as a column. */
function Versions({ of }: { of: Readonly<Record<string, PlainItem | null | undefined>> }) {
  const known = Object.entries(of).flatMap(([name, item]) => (item == null ? [] : [{ name, item }]));
  if (known.length === 0) return null;
  return (
    <table class="versions">
      <thead>
        <tr>
          <th scope="col">Attribute</th>
          {known.map(({ name }) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {compareItems(known.map(({ item }) => item)).map(({ name, values, isSame }) => (
          <tr key={name} class={isSame && values.length > 1 ? 'soft' : undefined}>
            <th scope="row">
              <Visible text={name} />
            </th>
            {values.map((value = '–', index) => (
              <td key={index} class={isSame ? undefined : `toned ${['tone-bad', 'tone-good'][index]}`}>
                <Visible text={value} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ComparedAttribute {
  readonly name: string;
  /** As JSON text. Undefined: this version does not have the attribute. */
  readonly values: readonly (string | undefined)[];
  readonly isSame: boolean;
}

/**
 * All attributes of versions of an item, in the order of the newest one. Members of objects come in one order, because
 * DynamoDB has none.
 */
export function compareItems(versions: readonly PlainItem[]): ComparedAttribute[] {
  const texts = versions.map(
    (item) => new Map(Object.entries(item).map(([name, value]) => [name, JSON.stringify(value, sorted)])),
  );
  const names = new Set(texts.toReversed().flatMap((version) => [...version.keys()]));
  return [...names].map((name) => {
    const values = texts.map((version) => version.get(name));
    return { name, values, isSame: values.every((value) => value === values[0]) };
  });
}

const sorted = (_key: string, value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
