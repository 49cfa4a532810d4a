import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { eventNames, isEventName } from '../../lambda/events/catalogue.ts';
import { kebabCase, pascalCase, queueUrlVariable } from '../../lambda/events/event-names.ts';
import { CommandError } from '../cli/terminal/command-error.ts';
import { bringUpToDate } from './derived-file.ts';
import { derivedPlaces, PROD_SNAPSHOT } from './derived-files.ts';
import { eventIndex, eventPaths } from './event-index.ts';
import { eventFiles, type NewEvent, templates } from './event-template.ts';

/** The request. Omitted properties have defaults. */
interface EventRequest extends Pick<NewEvent, 'name' | 'effect'> {
  readonly id?: string | undefined;
  readonly meaning?: string | undefined;
}

/** The contract's names of events: `shop.updated`, `girl.schedule_changed`. */
const NAME = /^[a-z][a-z0-9]*\.[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

/** Far below the limits for names of queues, functions and outputs. */
const MAX_NAME_LENGTH = 64;

/** Tests use these as unknown kinds. */
const UNKNOWN_KINDS = ['acceptance.unknown', 'example.unknown'];

/** The acceptance suite gives its own values to fields with this ending. */
const ID = /^[a-z][a-z0-9]*(_[a-z0-9]+)*_id$/;

/** Subscriptions to a topic filter by this field. */
const SHOP = 'shop_id';

/**
 * Also the title of notifications. Source: Amazon SNS API reference, `Publish`, `Subject`: ASCII, below 100 characters.
 * Also excludes characters with a meaning in Markdown or Slack.
 */
const MEANING = /^[A-Za-z0-9][A-Za-z0-9 ,.'()/-]{0,98}$/;

/** The named parts of the checked-in template of the `prod` stage. */
interface Snapshot {
  readonly Outputs: Readonly<Record<string, unknown>>;
  readonly Resources: Readonly<
    Record<string, { Properties?: { Environment?: { Variables?: { POWERTOOLS_SERVICE_NAME?: string } } } }>
  >;
}

/**
 * The request, validated and with all defaults.
 * @throws CommandError if there cannot be such an event, or files that it would change have uncommitted changes
 */
export function checkedEvent({ name, effect, id, meaning = sentence(name) }: EventRequest): NewEvent {
  if (!NAME.test(name) || name.length > MAX_NAME_LENGTH) {
    throw new CommandError(
      `The name must be like shop.closed or girl.schedule_changed, with ${MAX_NAME_LENGTH} characters at most, not '${name}'`,
    );
  }
  const clash = clashOf(name);
  if (clash !== undefined) throw new CommandError(`${name} cannot be added: ${clash}`);
  if (id === undefined && templates[effect].needsId) {
    throw new CommandError(
      `${effect} writes an item: name the field of data with its id, such as --id ${SHOP}`,
    );
  }
  if (id !== undefined && !ID.test(id)) {
    throw new CommandError(
      `--id must be a field such as ${SHOP}, in lower case and ending in _id, not '${id}'`,
    );
  }
  if (!MEANING.test(meaning)) {
    throw new CommandError(
      `--meaning must be up to 99 letters, digits and spaces, such as '${sentence(name)}', not '${meaning.replaceAll('\n', ' ')}'`,
    );
  }
  assertCommitted(placesOf(name));
  return { name, effect, id: id ?? SHOP, meaning };
}

/** `shop.closed` → `Shop closed` */
const sentence = (name: string) =>
  name.replaceAll(/[._]/g, ' ').replace(/^./, (first) => first.toUpperCase());

/**
 * An existing resource with a name that the event would need. The synthesis itself rejects duplicate construct names.
 */
function clashOf(name: string): string | undefined {
  if (isEventName(name)) return 'it already exists';
  if (UNKNOWN_KINDS.includes(name)) return 'tests use it as an unknown event kind';
  const twin = eventNames.find((other) =>
    [kebabCase, pascalCase, queueUrlVariable].some((form) => form(other) === form(name)),
  );
  if (twin !== undefined) return `its files and queues would be those of ${twin}`;
  const file = Object.values(eventPaths(kebabCase(name))).find((path) => existsSync(path));
  if (file !== undefined) return `${file} already exists`;
  const { Outputs, Resources } = JSON.parse(readFileSync(PROD_SNAPSHOT, 'utf8')) as Snapshot;
  // Every event has the same resources: their names after the event's, taken from the first event.
  const first = pascalCase(eventNames[0] ?? '');
  const output = Object.keys(Outputs)
    .filter((one) => one.startsWith(first))
    .map((one) => pascalCase(name) + one.slice(first.length))
    .find((one) => Object.hasOwn(Outputs, one));
  if (output !== undefined) return `the stack has another output ${output}`;
  const services = Object.values(Resources).map(
    ({ Properties }) => Properties?.Environment?.Variables?.POWERTOOLS_SERVICE_NAME,
  );
  return services.includes(kebabCase(name)) ? `the stack has another function ${kebabCase(name)}` : undefined;
}

/**
 * Writes the files of a new event, and updates every generated file. If anything fails or the process is interrupted,
 * all files are restored.
 * @param generate whether to update the generated files; for several events, only after the last
 * @returns the files
 * @throws CommandError if it fails or is interrupted
 */
export async function addEvent(event: NewEvent, generate: boolean): Promise<string[]> {
  const files = eventFiles(event);
  const paths = [...files.keys()];
  const restore = snapshotOf(placesOf(event.name));
  const steps = new Steps();
  try {
    for (const [file, text] of files) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    bringUpToDate(eventIndex());
    await steps.run('node_modules/@biomejs/biome/bin/biome', 'check', '--write', ...paths);
    // In a new process, because this one has loaded the old catalogue.
    if (generate) await steps.run('tools/cli/commands/entry.js', 'generate');
  } catch (error) {
    restore();
    if (steps.signal !== undefined)
      throw new CommandError(`Interrupted (${steps.signal}): no file was changed`);
    throw new CommandError(`${event.name} cannot be added: ${(error as Error).message}. No file was changed`);
  } finally {
    steps.end();
  }
  return paths;
}

/** Every file and folder that an event is written to. */
function placesOf(event: string): string[] {
  const { definition, sample } = eventPaths(kebabCase(event));
  return [dirname(definition), sample, ...derivedPlaces];
}

/** @returns a function that restores the current state of these files and folders; they may not exist yet */
function snapshotOf(places: readonly string[]): () => void {
  const contents = new Map(places.flatMap(filesAt).map((file) => [file, readFileSync(file)]));
  const absent = places.filter((place) => !existsSync(place));
  return () => {
    for (const place of absent) rmSync(place, { recursive: true, force: true });
    for (const file of places.flatMap(filesAt)) if (!contents.has(file)) rmSync(file);
    for (const [file, content] of contents) writeFileSync(file, content);
  };
}

function filesAt(place: string): string[] {
  const found = statSync(place, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return found.isDirectory() ? readdirSync(place).flatMap((name) => filesAt(join(place, name))) : [place];
}

/** @throws CommandError if one of the places has uncommitted changes; without a repository this is not checked */
function assertCommitted(places: readonly string[]): void {
  const { status, stdout } = spawnSync('git', ['status', '--porcelain', '--', ...places], {
    encoding: 'utf8',
  });
  if (status !== 0 || stdout === '') return;
  const changed = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(3));
  throw new CommandError(
    `Commit or undo your changes to these files first, because they would be written: ${changed.join(', ')}`,
  );
}

/** Node.js programs, run one after the other. An interruption ends the running one and prevents further ones. */
class Steps {
  signal: NodeJS.Signals | undefined;
  #child: ChildProcess | undefined;

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#interrupt);
  }

  readonly #interrupt = (signal: NodeJS.Signals): void => {
    this.signal = signal;
    this.#child?.kill(signal);
  };

  /** @throws Error with the first line of its output if it fails */
  async run(...args: string[]): Promise<void> {
    if (this.signal === undefined) {
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      this.#child = child;
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text;
        });
      }
      const [code] = (await once(child, 'close')) as [number | null];
      if (code !== 0) throw new Error(reasonIn(output));
    }
    if (this.signal !== undefined) throw new Error(this.signal);
  }

  end(): void {
    for (const signal of SIGNALS) process.off(signal, this.#interrupt);
  }
}

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** The line with the error. In a stack trace, the error's own line. */
function reasonIn(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const [error] = lines.flatMap((line) => /^\w*Error: (.+)$/.exec(line.trim())?.[1] ?? []);
  return (error ?? lines.at(-1) ?? 'it ended without a message').trim();
}
