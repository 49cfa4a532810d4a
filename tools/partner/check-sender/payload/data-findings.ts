import { catalogue, type EventName } from '../../../../lambda/events/catalogue.ts';
import { type Finding, risky } from '../finding.ts';
import { ALIASES, isMeantAs } from './aliases.ts';
import { type JsonNode, shapeOf } from './json-tree.ts';

/** Keys of `data` that are looked at: each is compared with each field. */
const MOST_KEYS = 200;

/**
 * What is lost without a word: the service ignores what it does not know, and what has a type that it cannot use.
 * @param told fields that something was said of already, as `data.shop_id`
 */
export function dataFindings(
  kind: EventName,
  data: JsonNode | undefined,
  told: ReadonlySet<string>,
): Finding[] {
  if (data?.kind !== 'object') return [];
  const { data: schema } = catalogue[kind];
  const fields = Object.keys(schema.shape);
  const sent = new Map(data.entries);
  const read: Readonly<Record<string, unknown>> =
    schema.safeParse(Object.fromEntries([...sent].map(([key, node]) => [key, plainValue(node)]))).data ?? {};
  const keys = [...sent.keys()].slice(0, MOST_KEYS).filter((key) => !fields.includes(key));
  const all: Finding[] = [];
  for (const field of fields) {
    if (told.has(`data.${field}`)) continue;
    const node = sent.get(field);
    if (node !== undefined) {
      if (read[field] === undefined && told.size === 0 && !isEmptyText(node)) all.push(ignored(field, node));
      continue;
    }
    const alias = ALIASES[field]?.find((other) => keys.includes(other));
    if (alias !== undefined || keys.some((key) => isMeantAs(key, field))) all.push(misnamed(field, alias));
  }
  if (all.length > 0 || told.size > 0 || fields.some((field) => sent.has(field))) return all;
  return [
    risky({
      kind: 'data-unused',
      what: `data has no field that is read of ${kind}: nothing says what it is about.`,
      remedy: `Send what there is of ${fields.join(', ')}.`,
    }),
  ];
}

/** What a schema needs to judge a field by its type: of an object or an array, that it is one. */
function plainValue(node: JsonNode): unknown {
  if (node.kind === 'string') return node.value;
  if (node.kind === 'object') return {};
  return node.kind === 'array' ? node.items.map(plainValue) : JSON.parse(node.text);
}

/** Of a text that is empty nothing is lost. */
const isEmptyText = (node: JsonNode) => node.kind === 'string' && node.value === '';

function ignored(field: string, node: JsonNode): Finding {
  return risky({
    kind: 'field-ignored',
    what: `data.${field} is ${shapeOf(node)}, which is not read: it counts as absent.`,
    remedy: 'Send a string or a number, or leave it out.',
  });
}

/** @param alias ours to show; what else the sender has written is not */
function misnamed(field: string, alias: string | undefined): Finding {
  return risky({
    kind: 'field-unread',
    what:
      alias === undefined
        ? `A field of data has a name much like ${field}, and is not read.`
        : `data.${alias} is not read; ${field} may be meant.`,
    remedy: `Send it as ${field}, if that is what it holds: see its letters, their case and its underscore.`,
  });
}
