import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { readSamples } from '../../events/samples.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { CommandError } from '../terminal/command-error.ts';
import { bringUpToDate, EVENT_INDEX, eventIndex, eventPaths } from './event-index.ts';

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/**
 * Copies the files of an event for a new one, and updates every generated file. If it fails or is interrupted, the new
 * files are removed again. The synthesis rejects the name of an existing construct or output.
 * @param like event whose files are copied
 * @param generate whether to update the generated files; for several events, only after the last
 * @returns the new files
 */
export async function addEvent(name: string, like: string, generate: boolean): Promise<string[]> {
  const { definition, sample } = eventPaths(kebabCase(name));
  const paths = [dirname(definition), sample];
  const existing = paths.find((path) => existsSync(path));
  if (existing !== undefined) throw new CommandError(`${name} cannot be added: ${existing} already exists`);
  const files = { ...codeOf(name, like), [sample]: sampleOf(name, like) };
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
    // A longer or shorter name may need other line breaks.
    run('node_modules/@biomejs/biome/bin/biome', 'format', '--write', ...Object.keys(files));
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

/** The code of another event, with the new name. */
function codeOf(name: string, like: string): Record<string, string> {
  const [from, to] = [like, name].map((event) => dirname(eventPaths(kebabCase(event)).definition));
  const title = name.replaceAll(/[._]/g, ' ').replace(/^./, (first) => first.toUpperCase());
  const files = readdirSync(from ?? '').map((file) => {
    const text = readFileSync(join(from ?? '', file), 'utf8')
      .replaceAll(`'${like}'`, `'${name}'`)
      .replace(/\b(meaning|title): '.*'/, `$1: '${title}'`)
      .replace(/^ +\/\/ .*contract.*$/m, '  // Not shown in the contract: assumptions (decision D10).');
    return [join(to ?? '', file), text];
  });
  return Object.fromEntries(files);
}

/** The sample of another event, five minutes after the newest one. Its ids have a number that no other sample has. */
function sampleOf(event: string, like: string): string {
  const samples = readSamples();
  const numbers = Array.from(JSON.stringify(samples).matchAll(/-(\d+)"/g), ([, digits]) => Number(digits));
  const newest = Math.max(...samples.map(({ payload }) => Date.parse(String(payload.timestamp))));
  const timestamp = new Date(newest + 5 * 60_000).toISOString().replace('.000Z', 'Z');
  const { payload } = samples.find((sample) => sample.event === like) ?? {};
  const text = JSON.stringify({ ...payload, event, timestamp }, undefined, 2);
  return `${text.replaceAll(/-\d+"/g, `-${Math.max(...numbers) + 1}"`)}\n`;
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
