import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { CommandError } from '../terminal/command-error.ts';
import { bringUpToDate } from './derived-file.ts';
import { EVENT_INDEX, eventIndex, eventPaths } from './event-index.ts';
import { eventFiles, eventTemplates, type NewEvent } from './event-template.ts';

const BIOME = 'node_modules/@biomejs/biome/bin/biome';

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/**
 * Writes the files of a new event, and updates every generated file. If it fails or is interrupted, the new files are
 * removed again. The synthesis rejects the name of an existing construct or output.
 * @param generate whether to update the generated files; for several events, only after the last
 * @returns the new files
 */
export async function addEvent(event: NewEvent, generate: boolean): Promise<string[]> {
  const { name, effect, id } = event;
  const { definition, sample } = eventPaths(kebabCase(name));
  const paths = [dirname(definition), sample];
  const existing = paths.find((path) => existsSync(path));
  if (existing !== undefined) throw new CommandError(`${name} cannot be added: ${existing} already exists`);
  if (id === undefined && eventTemplates[effect].lines === undefined) {
    throw new CommandError(`${effect} writes an item: name the field of data with its id: --id shop_id`);
  }
  const files = eventFiles(event);
  const index = readFileSync(EVENT_INDEX);
  // Ctrl-C also ends the programs below. This process survives the signal and removes the files.
  let interruption: NodeJS.Signals | undefined;
  const stay = (signal: NodeJS.Signals) => {
    interruption = signal;
  };
  for (const signal of SIGNALS) process.on(signal, stay);
  try {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    bringUpToDate(eventIndex());
    // Formats, and sorts imports. The lint reads the whole project, which takes seconds: `npm run check` follows.
    run(BIOME, 'check', '--write', '--linter-enabled=false', ...Object.keys(files));
    // A signal that arrives between two programs ends neither of them, so it is handled here.
    await setImmediate();
    if (interruption !== undefined) throw new Error(`interrupted (${interruption})`);
    // In a new process, because this process has loaded the old catalogue. Last, because the command changes existing
    // files.
    if (generate) run('tools/hookctl.js', 'generate');
  } catch (error) {
    for (const path of paths) rmSync(path, { recursive: true, force: true });
    writeFileSync(EVENT_INDEX, index);
    throw new CommandError(`${name} cannot be added: ${(error as Error).message}. No file was changed`);
  } finally {
    for (const signal of SIGNALS) process.off(signal, stay);
  }
  return Object.keys(files);
}

/**
 * Runs a Node.js program.
 * @throws Error with the program's line about its error
 */
function run(...args: string[]): void {
  const { status, signal, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (signal !== null) throw new Error(`interrupted (${signal})`);
  if (status !== 0) throw new Error(/^\w*Error: (.+)$/m.exec(stderr)?.[1] ?? stderr.trim());
}
