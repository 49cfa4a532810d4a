import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readSamples } from '../../events/samples.ts';
import { kebabCase, pascalCase } from '../../lambda/events/event-names.ts';

/** A generated file that is checked in, so that reviews show its changes. */
export interface GeneratedFile {
  /** Relative to the project's root. */
  readonly file: string;
  readonly text: string;
}

/** Whether the file has its generated text. */
export function isUpToDate({ file, text }: GeneratedFile): boolean {
  return existsSync(file) && readFileSync(file, 'utf8') === text;
}

export const bringUpToDate = ({ file, text }: GeneratedFile) => writeFileSync(file, text);

/** Folder with a subfolder for each event. */
const EVENTS = 'lambda/events';

export const EVENT_INDEX = `${EVENTS}/index.ts`;

/**
 * The files that every event has.
 * @param name in kebab case, which is the name of its folder
 */
export const eventPaths = (name: string) => ({
  definition: `${EVENTS}/${name}/event.ts`,
  consumer: `${EVENTS}/${name}/consumer.ts`,
  sample: `events/${name}.json`,
});

/** An event's name in the index: `shop.closed` → `shopClosed`. */
const camelCase = (event: string) => pascalCase(event).replace(/^./, (first) => first.toLowerCase());

/** Missing files of each event, one line each. Imports no event, because the import of a missing file fails. */
export function incompleteEvents(): string[] {
  const folders = readdirSync(EVENTS, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? entry.name : [],
  );
  const samples = readSamples();
  const names = new Set([...folders, ...samples.map(({ name }) => name)]);
  const missing = [...names].flatMap((name) => {
    const parts = Object.entries(eventPaths(name)).filter(([, path]) => !existsSync(path));
    return parts.length === 0
      ? []
      : [`${name} has ${parts.map(([part, path]) => `no ${part} (${path})`).join(', ')}`];
  });
  const misnamed = samples
    .filter(({ event, name }) => kebabCase(event) !== name)
    .map(
      ({ event, name }) => `events/${name}.json is of ${event}, whose files are named ${kebabCase(event)}`,
    );
  return [...missing, ...misnamed];
}

/** The index of the events' folders, in the order of their samples' timestamps. */
export function eventIndex(): GeneratedFile {
  const events = readSamples().map(({ event, name }) => ({ event, name, identifier: camelCase(event) }));
  const imports = events.map(
    ({ name, identifier }) => `import { event as ${identifier} } from './${name}/event.ts';`,
  );
  const entries = events.map(({ event, identifier }) => `  '${event}': ${identifier},`);
  const text = `// Written by \`npm run generate\` from the folders next to it, in the order of their samples' timestamps.
// biome-ignore-all format: generated
// biome-ignore-all assist/source/organizeImports: generated
${imports.join('\n')}

export const events = {
${entries.join('\n')}
} as const;
`;
  return { file: EVENT_INDEX, text };
}
