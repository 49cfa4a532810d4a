import { useState } from 'preact/hooks';
import type { Effect, ItemEffect, NotificationEffect } from '../../../stage/history/facts.ts';
import { Badge } from '../shared/badge.tsx';
import { Time } from '../shared/time.tsx';
import { formatRoute } from '../shell/route.ts';
import { Visible } from '../text/visible.tsx';
import { type AttributeChange, diffRows, orderedText } from './row-diff.ts';

export function Effects({ effects }: { effects: readonly Effect[] }) {
  if (effects.length === 0) return null;
  return (
    <section class="block">
      <h3>{effects.length === 1 ? 'Effect' : 'Effects'}</h3>
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
  const address = formatRoute({ view: 'tables', path: [table], query: { key } });
  return (
    <article class="card">
      <header class="card-head">
        <h4>
          <a href={address}>{table}</a>
        </h4>
        <span class="mono cut">
          <Visible text={key} />
        </span>
        <ItemWord effect={effect} />
        {at !== undefined && <Time at={at} day milliseconds />}
      </header>
      {isKnown ? (
        <Diff changes={diffRows(before ?? null, after ?? null)} />
      ) : now === null || now === undefined ? (
        <p class="card-note">There is no such item now.</p>
      ) : (
        <Diff
          changes={Object.entries(now).map(([name, value]) => ({
            name,
            kind: 'same',
            after: orderedText(value),
          }))}
        />
      )}
      {written !== undefined && !isKnown && <p class="card-note">As it is now, written {written}.</p>}
    </article>
  );
}

function ItemWord({ effect: { before, after } }: { effect: ItemEffect }) {
  if (before === undefined && after === undefined) return null;
  if (before === null || before === undefined) return <Badge tone="good">item added</Badge>;
  if (after === null || after === undefined) return <Badge tone="bad">item deleted</Badge>;
  return <Badge tone="warning">item changed</Badge>;
}

const SIGNS = { added: '+', removed: '−', changed: '~', same: '' } as const;
const SIGN_NAMES = { added: 'added', removed: 'removed', changed: 'changed', same: 'unchanged' } as const;

function Diff({ changes }: { changes: readonly AttributeChange[] }) {
  return (
    <table class="diff">
      <thead>
        <tr>
          <th scope="col">
            <span class="visually-hidden">Change</span>
          </th>
          <th scope="col">Attribute</th>
          <th scope="col">Value</th>
        </tr>
      </thead>
      {changes.map(({ name, kind, before, after }) => (
        <tbody key={name} class={`diff-${kind}`}>
          {kind === 'changed' ? (
            <>
              <tr class="diff-before">
                <td class="diff-sign">
                  <span class="visually-hidden">changed from</span>
                  <span aria-hidden="true">−</span>
                </td>
                <th scope="row" rowSpan={2}>
                  <Visible text={name} />
                </th>
                <td>
                  <Visible text={before ?? ''} />
                </td>
              </tr>
              <tr class="diff-after">
                <td class="diff-sign">
                  <span class="visually-hidden">to</span>
                  <span aria-hidden="true">+</span>
                </td>
                <td>
                  <Visible text={after ?? ''} />
                </td>
              </tr>
            </>
          ) : (
            <tr>
              <td class="diff-sign">
                <span class="visually-hidden">{SIGN_NAMES[kind]}</span>
                <span aria-hidden="true">{SIGNS[kind]}</span>
              </td>
              <th scope="row">
                <Visible text={name} />
              </th>
              <td>
                <Visible text={after ?? before ?? ''} />
              </td>
            </tr>
          )}
        </tbody>
      ))}
    </table>
  );
}

function NotificationCard({ effect: { topic, at, subject, texts } }: { effect: NotificationEffect }) {
  const protocols = Object.keys(texts);
  const [chosen, setChosen] = useState(protocols.includes('email') ? 'email' : (protocols[0] ?? ''));
  return (
    <article class="card">
      <header class="card-head">
        <h4>{topic}</h4>
        <Badge tone="good">people notified</Badge>
        <Time at={at} day milliseconds />
      </header>
      <div class="letter">
        <p class="letter-subject">
          <Visible text={subject} />
        </p>
        <p class="letter-text">
          <Visible text={texts[chosen] ?? ''} />
        </p>
      </div>
      {protocols.length > 1 && (
        <fieldset class="segments" aria-label="As subscribers get it by">
          {protocols.map((protocol) => (
            <button
              key={protocol}
              type="button"
              aria-pressed={protocol === chosen}
              onClick={() => setChosen(protocol)}
            >
              {protocol}
            </button>
          ))}
        </fieldset>
      )}
    </article>
  );
}
