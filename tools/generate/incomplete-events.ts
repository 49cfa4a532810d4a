import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { readSamples } from '../../events/samples.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { CATALOGUE, eventPaths } from './event-files.ts';

/** An entry of the catalogue, as the formatter leaves it: `  'shop.updated': {`. */
const ENTRY = /^ {2}'?([\w.]+)'?: \{$/gm;

/** Folder of the events: each has a folder of its own in it. */
const EVENTS = dirname(CATALOGUE);

/**
 * What each event lacks, and files that belong to no event, a line each. It reads the files as text, because
 * the import of a missing file fails.
 */
export function incompleteEvents(): string[] {
  const events = [...readFileSync(CATALOGUE, 'utf8').matchAll(ENTRY)].map(([, event = '']) => event);
  const missing = events.flatMap((event) => {
    const parts = Object.entries(eventPaths(event)).filter(([, path]) => !existsSync(path));
    const lacks = parts.map(([part, path]) => `no ${part} (${path})`);
    return lacks.length === 0 ? [] : [`${event} has ${lacks.join(', ')}`];
  });
  const names = new Set(events.map(kebabCase));
  const left = Object.entries(filesOfEvents())
    .filter(([, name]) => !names.has(name))
    .map(([path]) => `${path} belongs to no event: ${CATALOGUE} has no such entry`);
  return [...missing, ...left];
}

/** Folders and samples that are there: the event's name in kebab case, by the path. */
function filesOfEvents(): Readonly<Record<string, string>> {
  const folders = readdirSync(EVENTS, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return Object.fromEntries([
    ...folders.map(({ name }) => [`${EVENTS}/${name}`, name]),
    ...readSamples().map(({ name }) => [eventPaths(name).sample, name]),
  ]);
}
