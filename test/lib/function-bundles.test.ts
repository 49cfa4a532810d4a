import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { eventNames } from '../../lambda/contract/catalogue.ts';
import { kebabCase } from '../../lambda/contract/event-names.ts';
import { readCloudAssembly } from '../../local/template/cloud-assembly.ts';
import { testAssembly } from '../support/test-stack.ts';
import { SynthesisedTemplate } from './synthesised-template.ts';

/** What a cold start can afford to load. */
const MAXIMUM_BYTES = 450 * 1024;

const { assetFolder } = readCloudAssembly(testAssembly());

/** Folder of a function's code, by its service name. */
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

/** What a bundle loads from elsewhere, by any kind of import or require. */
async function importsOf(service: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: filesOf(service),
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    outdir: 'unused',
    write: false,
    metafile: true,
  });
  return Object.values(metafile.inputs)
    .flatMap(({ imports }) => imports)
    .filter(({ external }) => external)
    .map(({ path }) => path);
}

describe('bundles', () => {
  test('there is one for the receiver and one for each event', () => {
    expect(services.toSorted()).toEqual(['receiver', ...eventNames.map(kebabCase)].sort());
  });

  test.each(services)('the one of %s has at most 450 KB', (service) => {
    const bytes = filesOf(service).reduce((sum, file) => sum + statSync(file).size, 0);
    expect(bytes).toBeLessThanOrEqual(MAXIMUM_BYTES);
  });

  test.each(services)(
    'the one of %s imports built-in modules of Node.js and nothing else',
    async (service) => {
      const origins = (await importsOf(service)).map((path) => (path.startsWith('node:') ? 'Node.js' : path));
      expect(new Set(origins)).toEqual(new Set(['Node.js']));
    },
  );
});
