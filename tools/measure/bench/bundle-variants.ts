import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { BUNDLE_OPTIONS, writeBundles } from '../../../lib/release/function-bundles.ts';
import { ratios, spread } from './figure.ts';
import { load } from './load-module.ts';
import { bundleReceiver, RECEIVER } from './receiver.ts';

/** What CommonJS code needs in an ES module. */
const REQUIRE = `import{createRequire}from'module';const require=createRequire(import.meta.url);`;

const SOURCE_MAPS = '--enable-source-maps';

/** A way to bundle the receiver, and to start it. */
interface Variant {
  /** That differ from those of the deployed bundle, which has source maps besides. @default it is that bundle */
  readonly build?: BuildOptions;
  /** By esbuild, so that what is imported on demand shares code with the rest. @default false */
  readonly isSplit?: boolean;
  /** Of Node.js. @default none */
  readonly flags?: readonly string[];
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  'as deployed': {},
  'without source maps': { build: {} },
  [`with whole source maps and ${SOURCE_MAPS}`]: {
    build: { sourcemap: 'linked', sourcesContent: false },
    flags: [SOURCE_MAPS],
  },
  'with the files that esbuild splits it into': { isSplit: true },
  'from CommonJS builds of the SDK': { build: { mainFields: ['main'], banner: { js: REQUIRE } } },
  'with the SDK’s whole chain of credential providers': { build: { alias: {} } },
};

/** What the start-up of one variant takes. */
export interface StartUp {
  readonly name: string;
  /** Of files that are loaded before the first request. */
  readonly kilobytes: number;
  /** Of all files, compressed: what is deployed. */
  readonly zipKilobytes: number;
  /** Median of the rounds. */
  readonly milliseconds: number;
  /**
   * To the first variant, which is the one that is deployed: median of the rounds' own ratios. Another machine
   * has other times, but about the same ratios.
   */
  readonly ratio: number;
}

export interface StartUpOptions {
  /** Starts of each variant. They take turns, so that a busy moment of the machine meets all alike. */
  readonly rounds: number;
  /** Told after each round how many are done. @default nobody is */
  readonly onProgress?: (rounds: number) => void;
  /** Ends what is under way. @default nobody does */
  readonly signal?: AbortSignal;
}

/** Bundles the receiver in each way that was considered, and starts each bundle in processes of its own. */
export async function measureVariants({ rounds, onProgress, signal }: StartUpOptions): Promise<StartUp[]> {
  const folder = mkdtempSync(join(tmpdir(), 'start-up-'));
  try {
    const bundles = await Promise.all(
      Object.entries(VARIANTS).map(async ([name, variant], index) => {
        const outdir = join(folder, String(index));
        const entry = await bundle(variant, outdir);
        return { name, outdir, entry, flags: variant.flags ?? [], times: [] as number[] };
      }),
    );
    for (let round = 1; round <= rounds; round += 1) {
      for (const { entry, flags, times } of bundles) times.push(await load(entry, flags, signal));
      onProgress?.(round);
    }
    const base = bundles[0]?.times ?? [];
    return bundles.map(({ name, outdir, entry, flags, times }) => ({
      name,
      kilobytes: sum(loadedFiles(outdir, basename(entry), flags), (file) => statSync(file).size) / 1024,
      zipKilobytes: sum(filesIn(outdir), (file) => deflateRawSync(readFileSync(file)).length) / 1024,
      milliseconds: spread(times).median,
      ratio: ratios(times.map((of, round) => ({ of, to: base[round] ?? Number.NaN }))).median,
    }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @returns the file to load */
async function bundle({ build: options, isSplit }: Variant, outdir: string): Promise<string> {
  if (isSplit) await build({ ...BUNDLE_OPTIONS, splitting: true, entryPoints: { index: RECEIVER }, outdir });
  else if (options === undefined) await writeBundles([{ entry: RECEIVER, folder: outdir }]);
  else await bundleReceiver(outdir, options);
  return join(outdir, 'index.mjs');
}

/** The file, those that it imports other than on demand, and their source maps where Node.js is told to read them. */
function loadedFiles(folder: string, file: string, flags: readonly string[]): string[] {
  const scripts = new Set([join(folder, file)]);
  for (const script of scripts) {
    for (const [, imported = ''] of readFileSync(script, 'utf8').matchAll(
      /\b(?:from|import)"\.\/([^"]+)"/g,
    )) {
      scripts.add(join(folder, imported));
    }
  }
  return [...scripts].flatMap((script) =>
    flags.includes(SOURCE_MAPS) ? [script, `${script}.map`] : [script],
  );
}

const filesIn = (folder: string) => readdirSync(folder).map((file) => join(folder, file));

const sum = (files: readonly string[], bytesOf: (file: string) => number) =>
  files.reduce((total, file) => total + bytesOf(file), 0);
