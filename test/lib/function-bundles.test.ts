import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { readCloudAssembly, SynthesisedTemplate } from 'local-aws/template';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { BUNDLE_LIST, type BundleList, bundleFunctions } from '../../lib/release/function-bundles.ts';
import { testAssembly } from '../support/test-assembly.ts';

/** 16 KB: a fortieth of a bundle. Source maps are read only when an error is logged. */
const MAXIMUM_MAP_BYTES = 16 * 1024;

/** 450 KB: the limit for an acceptable cold start. */
const MAXIMUM_BYTES = 450 * 1024;

/** 600 KB: code that is imported on demand has its own copy of the SDK's core. */
const MAXIMUM_WHOLE_BYTES = 600 * 1024;

/**
 * Modules that a function may contain twice: without state, or with connections, which are to hosts that no other copy
 * connects to.
 */
const MAY_BE_COPIED = [
  'lambda/limits.ts',
  'lambda/aws-clients.ts',
  'lambda/connections.ts',
  'lambda/environment.ts',
  'lambda/errors.ts',
  'lambda/environment-credentials.ts',
];

const { assetFolder } = readCloudAssembly(testAssembly());

const bundles = new Map(
  new SynthesisedTemplate(testAssembly())
    .ofType('AWS::Lambda::Function')
    .map(({ properties }) => [
      String(properties.Environment.Variables.POWERTOOLS_SERVICE_NAME),
      assetFolder(properties.Code.S3Key),
    ]),
);
const services = [...bundles.keys()];

function filesOf(service: string): string[] {
  const folder = bundles.get(service) ?? '';
  return readdirSync(folder).map((file) => join(folder, file));
}

const scriptsOf = (service: string) => filesOf(service).filter((file) => file.endsWith('.mjs'));
const mapsOf = (service: string) => filesOf(service).filter((file) => file.endsWith('.map'));

const isEntry = (file: string) => file.endsWith('/index.mjs.map');

const sourcesOf = (map: string): string[] => JSON.parse(readFileSync(map, 'utf8')).sources;

const sizeOf = (files: string[]) => files.reduce((sum, file) => sum + statSync(file).size, 0);

/** The files of a bundle and the imports of each, of any kind. */
async function readImports(service: string) {
  const { metafile } = await build({
    entryPoints: scriptsOf(service),
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    outdir: 'unused',
    write: false,
    metafile: true,
  });
  return metafile.inputs;
}

/** The files that are loaded before the first request: the entry, and all its imports except those on demand. */
async function loadedAtStart(service: string): Promise<string[]> {
  const inputs = await readImports(service);
  const entry = Object.keys(inputs).find((file) => file.endsWith('/index.mjs'));
  if (entry === undefined) throw new Error(`The bundle of ${service} has no index.mjs`);
  const loaded = new Set([entry]);
  for (const file of loaded) {
    for (const { path, kind, external } of inputs[file]?.imports ?? []) {
      if (!external && kind === 'import-statement') loaded.add(path);
    }
  }
  return [...loaded];
}

describe('bundles', () => {
  test('exist for the receiver, the smoke test and each event', () => {
    expect(services.toSorted()).toEqual(['receiver', 'smoke-test', ...eventNames.map(kebabCase)].sort());
  });

  test.each(services)('%s: what is imported on demand has no copy of shared state', (service) => {
    const [own, others] = [mapsOf(service).filter(isEntry), mapsOf(service).filter((file) => !isEntry(file))];
    const loaded = new Set(own.flatMap(sourcesOf));
    const both = others
      .flatMap(sourcesOf)
      .filter((source) => source.startsWith('lambda/') && loaded.has(source));
    expect(both.filter((source) => !MAY_BE_COPIED.includes(source))).toEqual([]);
  });

  test('of the receiver have at most 600 KB, with imports on demand', () => {
    expect(sizeOf(filesOf('receiver'))).toBeLessThanOrEqual(MAXIMUM_WHOLE_BYTES);
  });

  test.each(services)('the one of %s loads at most 450 KB at its start', async (service) => {
    expect(sizeOf(await loadedAtStart(service))).toBeLessThanOrEqual(MAXIMUM_BYTES);
  });

  test.each(services)(
    'the one of %s lacks the schema of archive records: only commands read these',
    (service) => {
      expect(mapsOf(service).flatMap(sourcesOf)).not.toContain('lambda/archive/record-schema.ts');
    },
  );

  test.each(services)('the one of %s has a source map for each file, of at most 16 KB in all', (service) => {
    expect(mapsOf(service)).toEqual(scriptsOf(service).map((file) => `${file}.map`));
    expect(sizeOf(mapsOf(service))).toBeLessThanOrEqual(MAXIMUM_MAP_BYTES);
  });

  test.each(services)(
    'the one of %s names its sources from the project’s root, and holds none',
    (service) => {
      const maps = mapsOf(service).map((file) => JSON.parse(readFileSync(file, 'utf8')));
      const sources = maps.flatMap((map) => map.sources);
      expect(sources.filter((source) => /^(lambda\/.*\.ts|node_modules\/.+)$/.exec(source) === null)).toEqual(
        [],
      );
      expect(sources).toContainEqual(expect.stringMatching(/^lambda/));
      expect(maps.filter((map) => 'sourcesContent' in map)).toEqual([]);
    },
  );

  test.each(services)('the one of %s imports built-in modules of Node.js, and no other', async (service) => {
    const imports = Object.values(await readImports(service)).flatMap((file) => file.imports);
    const origins = imports
      .filter(({ external }) => external)
      .map(({ path }) => (path.startsWith('node:') ? 'Node.js' : path));
    expect(new Set(origins)).toEqual(new Set(['Node.js']));
  });
});

describe('a synthesis into another folder', () => {
  let outdir: string;
  const receiver = () => join(outdir, 'bundles', 'receiver');

  beforeAll(async () => {
    outdir = await mkdtemp(join(tmpdir(), 'bundles-'));
    await mkdir(receiver(), { recursive: true });
    await writeFile(join(receiver(), 'chunk-OLD.mjs'), '');
    await bundleFunctions(outdir);
  });
  afterAll(() => rm(outdir, { recursive: true }));

  test('does not deploy the output of an earlier one', () => {
    expect(readdirSync(receiver())).toContain('index.mjs');
    expect(readdirSync(receiver())).not.toContain('chunk-OLD.mjs');
  });

  test('lists the sources of each function, also one that adds no bytes to the bundle', () => {
    const list: BundleList = JSON.parse(readFileSync(join(outdir, BUNDLE_LIST), 'utf8'));
    expect(list.receiver?.sources).toEqual(
      expect.arrayContaining(['lambda/receiver/handler.ts', 'lambda/no-browser.ts']),
    );
    expect(list.receiver?.sources.filter((file) => !existsSync(file))).toEqual([]);
  });

  test('makes the same files, so that nothing is deployed again', () => {
    const texts = (folder: string) =>
      Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
    expect(texts(receiver())).toEqual(texts(bundles.get('receiver') ?? ''));
  });
});
