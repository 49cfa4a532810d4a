import { globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildSync } from 'esbuild';
import { readSamples } from '../../events/samples.ts';
import { CommandError } from '../terminal/command-error.ts';

/** Files of the kit that are copied, and their paths in the project. The signing samples follow. */
const COPIED: readonly (readonly [to: string, from: string])[] = [
  ['README.md', 'docs/partner.md'],
  ['openapi.json', 'docs/api/openapi.json'],
  ['events/signing-vectors.json', 'events/signing-vectors.json'],
];

const SIGNING = 'examples/signing';

/** Without what the samples' compilers write. */
const SAMPLE_FILES = `${SIGNING}/**/*.{go,java,md,mjs,mod,php,py,rb,sh}`;

/** Paths in the guide and in the samples' README, and what they are in the kit. */
const PATHS: readonly (readonly [path: string, inKit: string])[] = [
  [`../${SIGNING}/`, 'signing/'],
  ['](api/', ']('],
  ['](../events', '](events'],
  ['../../events/', '../events/'],
];

/** Entry point that runs the command under the name that a partner types. */
const CHECKER = `
import { command } from './tools/commands/check-sender.ts';
import { USAGE_ERROR } from './tools/terminal/command-error.ts';
import { endWithClosedPipe } from './tools/terminal/terminal.ts';
endWithClosedPipe();
command.name('node check-sender.mjs');
command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : USAGE_ERROR));
await command.parseAsync();
`;

const CHECKER_HEADER = `// Checks your webhook requests, and names the likely mistake. It needs only Node.js 20.12 or later:
//   node check-sender.mjs --secret 'our shared secret'`;

/**
 * Writes what a partner needs to send us events.
 * @returns paths of the files in the folder
 * @throws CommandError if the folder has files
 */
export function writePartnerKit(folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length > 0) throw new CommandError(`${folder} is not empty`);
  const samples = readSamples().map(({ name }) => [`events/${name}.json`, `events/${name}.json`] as const);
  const signing = globSync(SAMPLE_FILES).map((file) => [file.replace('examples/', ''), file] as const);
  const copied = [...COPIED, ...samples, ...signing].map(
    ([to, from]) => [to, forKit(to, readFileSync(from, 'utf8'))] as const,
  );
  const files = new Map([...copied, ['check-sender.mjs', checkerText()]]);
  for (const [file, text] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return [...files.keys()].sort();
}

function forKit(file: string, text: string): string {
  if (!file.endsWith('.md')) return text;
  return PATHS.reduce((all, [path, inKit]) => all.replaceAll(path, inKit), text);
}

/** The command `check-sender` as one file, with the licences of its packages. */
function checkerText(): string {
  const { outputFiles, metafile } = buildSync({
    stdin: { contents: CHECKER, resolveDir: '.', sourcefile: 'check-sender.ts' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    legalComments: 'inline',
    banner: { js: CHECKER_HEADER },
    write: false,
    metafile: true,
  });
  const [bundled] = Object.values(metafile.outputs);
  const folders = Object.entries(bundled?.inputs ?? {}).flatMap(([input, { bytesInOutput }]) =>
    bytesInOutput === 0 ? [] : (/^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? []),
  );
  const licences = ['.', ...new Set(folders.sort())].map(licenceIn);
  return [outputFiles[0]?.text, ...licences].join('\n');
}

/** The licence of a package, as its terms require in every copy. */
function licenceIn(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  if (file === undefined) throw new Error(`${folder} has no file with its licence`);
  const text = readFileSync(`${folder}/${file}`, 'utf8').trim();
  const { name } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  return `/*! ${name}\n\n${text}\n*/\n`;
}
