import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { CommandError } from '../terminal/command-error.ts';
import { bringUpToDate } from './derived-file.ts';
import { EVENT_INDEX, eventIndex, eventPaths } from './event-index.ts';
import { eventFiles, type NewEvent } from './event-template.ts';

const BIOME = 'node_modules/@biomejs/biome/bin/biome';

/**
 * Writes the files of a new event, and updates every generated file. If it fails, the new files are removed again. The
 * synthesis rejects the name of an existing construct or output.
 * @param generate whether to update the generated files; for several events, only after the last
 * @returns the new files
 */
export function addEvent(event: NewEvent, generate: boolean): string[] {
  const { name } = event;
  const { definition, sample } = eventPaths(kebabCase(name));
  const paths = [dirname(definition), sample];
  const existing = paths.find((path) => existsSync(path));
  if (existing !== undefined) throw new CommandError(`${name} cannot be added: ${existing} already exists`);
  const files = eventFiles(event);
  const index = readFileSync(EVENT_INDEX);
  try {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    bringUpToDate(eventIndex());
    // Formats, and sorts imports. The lint reads the whole project, which takes seconds: `npm run check` follows.
    run(BIOME, 'check', '--write', '--linter-enabled=false', ...Object.keys(files));
    // In a new process, because this process has loaded the old catalogue. Last, because the command changes existing
    // files.
    if (generate) run('tools/hookctl.js', 'generate');
  } catch (error) {
    for (const path of paths) rmSync(path, { recursive: true, force: true });
    writeFileSync(EVENT_INDEX, index);
    throw new CommandError(`${name} cannot be added: ${(error as Error).message}. No file was changed`);
  }
  return Object.keys(files);
}

/**
 * Runs a Node.js program.
 * @throws Error with the program's line about its error
 */
function run(...args: string[]): void {
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(/^\w*Error: (.+)$/m.exec(stderr)?.[1] ?? stderr.trim());
}
