import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { MODELS_FILE, models, type Shape } from './check-input.ts';

/** Folder of a service in botocore's data, if it differs from the service's name in a signature. */
const FOLDERS: Readonly<Record<string, string>> = { monitoring: 'cloudwatch' };

/** The parts of a shape that requests are checked for. The others are documentation, and for clients. */
const CHECKED = ['type', 'required', 'enum', 'min', 'max', 'pattern', 'sensitive'] as const;

interface Reference {
  readonly shape: string;
}

interface BotocoreShape extends Pick<Shape, (typeof CHECKED)[number]> {
  readonly members?: Readonly<Record<string, Reference>>;
  readonly member?: Reference;
  readonly key?: Reference;
  readonly value?: Reference;
}

interface BotocoreModel {
  readonly operations: Readonly<Record<string, { readonly input?: Reference }>>;
  readonly shapes: Readonly<Record<string, BotocoreShape>>;
}

/**
 * Writes `models.json` again: the inputs of the operations that it names, from AWS' models in botocore.
 * @param data botocore's folder `data`
 */
function extract(data: string): string {
  const services = Object.entries(models).map(([service, { operations }]) => {
    const folder = join(data, FOLDERS[service] ?? service);
    const newest = readdirSync(folder).sort().at(-1) ?? '';
    const model: BotocoreModel = JSON.parse(
      gunzipSync(readFileSync(join(folder, newest, 'service-2.json.gz'))).toString(),
    );
    const shapes: Record<string, Shape> = {};
    const inputs = Object.keys(operations).map((name) => {
      const input = model.operations[name]?.input?.shape;
      return [name, input && keep(input, model.shapes, shapes)];
    });
    return [service, { operations: Object.fromEntries(inputs), shapes }] as const;
  });
  return text(Object.fromEntries(services));
}

/** Keeps a shape and those that it refers to. @returns its name, or only its type if nothing limits it */
function keep(name: string, all: BotocoreModel['shapes'], kept: Record<string, Shape>): string {
  const { members, member, key, value, ...others } = all[name] as BotocoreShape;
  const limits = Object.fromEntries(
    CHECKED.flatMap((part) => (others[part] === undefined ? [] : [[part, others[part]]])),
  ) as unknown as Shape;
  const isSimple = members === undefined && member === undefined && key === undefined;
  if (isSimple && Object.keys(limits).length === 1) return limits.type;
  if (kept[name] !== undefined) return name;
  const referred = (reference: Reference) => keep(reference.shape, all, kept);
  // Before the shapes that it refers to, because one of them may refer to it.
  kept[name] = limits;
  Object.assign(
    limits,
    members && {
      members: Object.fromEntries(Object.entries(members).map(([field, of]) => [field, referred(of)])),
    },
    member && { member: referred(member) },
    key && { key: referred(key) },
    value && { value: referred(value) },
  );
  return name;
}

/** JSON with one line for each operation and shape. */
function text(extracted: typeof models): string {
  const lines = (entries: object) =>
    Object.entries(entries)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, value]) => `      ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
      .join(',\n');
  const services = Object.entries(extracted).map(
    ([service, { operations, shapes }]) =>
      `  ${JSON.stringify(service)}: {\n    "operations": {\n${lines(operations)}\n    },\n    "shapes": {\n${lines(shapes)}\n    }\n  }`,
  );
  return `{\n${services.join(',\n')}\n}\n`;
}

const [data = '', option] = process.argv.slice(2);
const extracted = extract(data);
if (option !== '--check') writeFileSync(MODELS_FILE, extracted);
else if (extracted !== readFileSync(MODELS_FILE, 'utf8')) {
  console.error('models.json differs from botocore. Write it again: see local-aws/README.md');
  process.exitCode = 1;
}
