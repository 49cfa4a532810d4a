import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { readCloudAssembly } from 'local-aws/cloud-assembly';
import { SynthesisedTemplate } from 'local-aws/synthesised-template';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { bundleFunctions } from '../../lib/release/function-bundles.ts';
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

/** The imports of each bundle's files, of any kind. esbuild fails if one of a file is missing. */
const imports = new Map(
  await Promise.all(
    services.map(async (service) => {
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
      return [service, Object.values(metafile.inputs).flatMap((file) => file.imports)] as const;
    }),
  ),
);

test('bundles exist for the receiver, the smoke test and each event', () => {
  expect(services.toSorted()).toEqual(['receiver', 'smoke-test', ...eventNames.map(kebabCase)].sort());
});

describe.each(services)('the bundle of %s', (service) => {
  test('has no copy of shared state in what is imported on demand', () => {
    const maps = mapsOf(service);
    const loaded = new Set(maps.filter(isEntry).flatMap(sourcesOf));
    const both = maps
      .filter((file) => !isEntry(file))
      .flatMap(sourcesOf)
      .filter((source) => source.startsWith('lambda/') && loaded.has(source));
    expect(both.filter((source) => !MAY_BE_COPIED.includes(source))).toEqual([]);
  });

  test('loads at most 450 KB at its start, and has at most 600 KB if it is the receiver’s', () => {
    expect(sizeOf(scriptsOf(service).filter((file) => file.endsWith('/index.mjs')))).toBeLessThanOrEqual(
      MAXIMUM_BYTES,
    );
    const whole = service === 'receiver' ? sizeOf(filesOf(service)) : 0;
    expect(whole).toBeLessThanOrEqual(MAXIMUM_WHOLE_BYTES);
  });

  test('has small source maps, with names from the project’s root', () => {
    expect(sizeOf(mapsOf(service))).toBeLessThanOrEqual(MAXIMUM_MAP_BYTES);
    const sources = mapsOf(service).flatMap(sourcesOf);
    expect(sources.filter((source) => !/^(lambda\/.*\.ts|node_modules\/.+)$/.test(source))).toEqual([]);
  });

  test('imports built-in modules of Node.js, and its own files only on demand', () => {
    const others = imports
      .get(service)
      ?.filter(({ path, kind, external }) =>
        external ? !path.startsWith('node:') : kind !== 'dynamic-import',
      );
    expect(others).toEqual([]);
  });
});

test('a synthesis into another folder makes the same files, and drops those of an earlier one', async () => {
  const outdir = await mkdtemp(join(tmpdir(), 'bundles-'));
  try {
    const receiver = join(outdir, 'bundles', 'receiver');
    await mkdir(receiver, { recursive: true });
    await writeFile(join(receiver, 'chunk-OLD.mjs'), '');
    await bundleFunctions(outdir);
    const texts = (folder: string) =>
      Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
    // Otherwise every deployment would replace the functions.
    expect(texts(receiver)).toEqual(texts(bundles.get('receiver') ?? ''));
  } finally {
    await rm(outdir, { recursive: true });
  }
});
