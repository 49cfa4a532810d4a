type Value = Record<string, unknown>;

const isObject = (value: unknown): value is Value => typeof value === 'object' && value !== null;

/** The objects in an object, each by its name. */
const entriesOf = (value: unknown): [string, Value][] =>
  isObject(value)
    ? Object.entries(value).filter((entry): entry is [string, Value] => isObject(entry[1]))
    : [];

/**
 * An AsyncAPI document as the parser hands it to the renderer: references replaced by what they refer to, which is one
 * object wherever it is seen, and its objects named. .ci/check-api holds it against the parser itself.
 */
export function parsed(document: unknown): Value {
  if (!isObject(document)) throw new Error('The description is no object');
  const root = resolveReferences(document);
  const components = isObject(root.components) ? root.components : {};
  const channels = [...entriesOf(root.channels), ...entriesOf(components.channels)];
  const named = [
    ...channels,
    ...channels.flatMap(([, { messages }]) => entriesOf(messages)),
    ...entriesOf(root.operations),
    ...entriesOf(components.messages),
    ...entriesOf(components.operations),
  ];
  for (const [name, object] of named) object['x-parser-unique-object-id'] ??= name;
  for (const [name, schema] of entriesOf(components.schemas)) schema['x-parser-schema-id'] = name;
  return Object.assign(root, { 'x-parser-spec-parsed': true, 'x-parser-api-version': 3 });
}

/** In place: every copy of an object would be a message, or a channel, of its own. */
function resolveReferences(root: Value): Value {
  const seen = new Set<Value>();
  const resolve = (value: unknown): unknown => {
    if (!isObject(value)) return value;
    if (typeof value.$ref === 'string') return resolve(at(root, value.$ref));
    if (seen.has(value)) return value;
    seen.add(value);
    for (const [key, item] of Object.entries(value)) value[key] = resolve(item);
    return value;
  };
  resolve(root);
  return root;
}

/** What a reference within a document refers to: `#/channels/unrouted` (RFC 6901). */
function at(root: Value, reference: string): unknown {
  const keys = reference.replace(/^#\//, '').split('/');
  return keys.reduce<unknown>(
    (value, key) => (isObject(value) ? value[key.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
    root,
  );
}
