import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type BuildOptions, buildSync } from 'esbuild';
import { eventNames } from '../lambda/contract/catalogue.ts';
import { queueUrlVariable } from '../lambda/contract/event-names.ts';
import { BUNDLE_OPTIONS } from '../lib/function-bundles.ts';

/** Starts of each bundle: `--rounds`. They take turns, so that a busy moment of the machine meets all alike. */
const { rounds } = parseArgs({ options: { rounds: { type: 'string', default: '25' } } }).values;

/** What CommonJS code needs in an ES module. */
const REQUIRE = `import{createRequire}from'module';const require=createRequire(import.meta.url);`;

const VARIANTS: Readonly<Record<string, BuildOptions>> = {
  'as deployed': {},
  'in one file': { splitting: false },
  'in one file, as CommonJS': { splitting: false, format: 'cjs', outExtension: { '.js': '.cjs' } },
  'from CommonJS builds of the SDK': { mainFields: ['main'], banner: { js: REQUIRE } },
  'with the SDK’s whole chain of credential providers': { alias: {} },
};

const environment = Object.fromEntries(
  [
    ...eventNames.map(queueUrlVariable),
    'QUARANTINE_QUEUE_URL',
    'SECRET_GRACE_SECONDS',
    'UNROUTED_QUEUE_URL',
    'WEBHOOK_SECRET_ARN',
  ].map((name) => [name, 'x']),
);

/** Milliseconds that a fresh process takes to load a bundle, its own start not counted. */
function load(file: string): number {
  const script = `const t = performance.now(); await import(${JSON.stringify(file)}); console.log(performance.now() - t)`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, ...environment, AWS_REGION: 'us-east-1' },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return Number(stdout);
}

const folderSize = (path: string) =>
  readdirSync(path).reduce((sum, file) => sum + statSync(join(path, file)).size, 0);

const median = (values: number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const folder = mkdtempSync(join(tmpdir(), 'start-up-'));
try {
  const variants = Object.entries(VARIANTS).map(([name, options], index) => {
    const outdir = join(folder, String(index));
    buildSync({
      ...BUNDLE_OPTIONS,
      ...options,
      entryPoints: { index: 'lambda/receiver/handler.ts' },
      outdir,
    });
    const outfile = join(outdir, `index${options.outExtension?.['.js'] ?? '.mjs'}`);
    return { name, outfile, times: [] as number[] };
  });
  for (let round = 0; round < Number(rounds); round += 1) {
    for (const { outfile, times } of variants) times.push(load(outfile));
  }
  const [base] = variants;
  console.table(
    Object.fromEntries(
      variants.map(({ name, outfile, times }) => [
        name,
        {
          KB: Math.round(folderSize(dirname(outfile)) / 1024),
          'median ms': Math.round(median(times) * 10) / 10,
          'ratio to the first': Math.round((median(times) / median(base?.times ?? [])) * 100) / 100,
        },
      ]),
    ),
  );
} finally {
  rmSync(folder, { recursive: true });
}
