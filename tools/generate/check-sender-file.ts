import { readdirSync, readFileSync } from 'node:fs';
import { buildSync } from 'esbuild';
import { API_FOLDER } from '../api/files.ts';
import type { DerivedFile } from './derived-file.ts';

/** Source of the file's entry point, which runs the command under the name that a partner types. */
const ENTRY = `
import { command } from './tools/commands/check-sender.ts';
await command.name('node check-sender.mjs').parseAsync();
`;

const HEADER = `// Checks your webhook requests, and names the likely mistake. It needs only Node.js 20.12 or later:
//   node check-sender.mjs --secret 'our shared secret' Built by npm run generate from tools/check-sender/.`;

/** `docs/api/check-sender.mjs`: the command as one file, which a partner runs without this repository. */
export function checkSenderFile(): DerivedFile {
  const { outputFiles, metafile } = buildSync({
    stdin: { contents: ENTRY, resolveDir: '.', sourcefile: 'check-sender.ts' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    legalComments: 'inline',
    banner: { js: HEADER },
    write: false,
    metafile: true,
  });
  const [bundled] = Object.values(metafile.outputs);
  const folders = Object.entries(bundled?.inputs ?? {}).flatMap(([input, { bytesInOutput }]) =>
    bytesInOutput === 0 ? [] : (/^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? []),
  );
  const licences = ['.', ...new Set(folders.sort())].map(licenceIn);
  return { file: `${API_FOLDER}/check-sender.mjs`, text: [outputFiles[0]?.text, ...licences].join('\n') };
}

/** The licence of a package, as its terms require in every copy. */
function licenceIn(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  if (file === undefined) throw new Error(`${folder} has no file with its licence`);
  const text = readFileSync(`${folder}/${file}`, 'utf8').trim();
  const { name } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  return `/*! ${name}\n\n${text}\n*/\n`;
}
