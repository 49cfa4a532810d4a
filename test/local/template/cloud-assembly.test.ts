import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readCloudAssembly } from '../../../local/template/cloud-assembly.ts';
import { testAssembly } from '../../support/test-stack.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cloud-assembly-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

const stackArtifact = {
  type: 'aws:cloudformation:stack',
  properties: { templateFile: 'Hooks.template.json' },
};

function writeAssembly(artifacts: Record<string, unknown>, template: unknown = { Resources: {} }): void {
  const files = {
    'manifest.json': { artifacts },
    'Hooks.template.json': template,
    'Hooks.assets.json': {
      files: {
        f00d: {
          source: { path: 'asset.f00d', packaging: 'zip' },
          destinations: { 'here-now': { bucketName: 'assets', objectKey: 'f00d.zip' } },
        },
      },
    },
  };
  for (const [file, value] of Object.entries(files)) writeFileSync(join(folder, file), JSON.stringify(value));
}

describe('a cloud assembly with one stack', () => {
  test('gives its name', () => {
    writeAssembly({ Hooks: stackArtifact, 'Hooks.assets': { type: 'cdk:asset-manifest' } });
    expect(readCloudAssembly(folder).name).toBe('Hooks');
  });

  test('gives its resources', () => {
    const resource = { Type: 'AWS::SQS::Queue', Properties: { DelaySeconds: 1 } };
    writeAssembly({ Hooks: stackArtifact }, { Resources: { Queue: resource } });
    expect(readCloudAssembly(folder).template.Resources).toEqual({ Queue: resource });
  });

  test('may have a resource without properties, and no outputs', () => {
    writeAssembly({ Hooks: stackArtifact }, { Resources: { Queue: { Type: 'AWS::SQS::Queue' } } });
    expect(readCloudAssembly(folder).template).toEqual({
      Resources: { Queue: { Type: 'AWS::SQS::Queue', Properties: {} } },
      Outputs: {},
    });
  });

  test('gives the folder of an asset by the key under which the template knows it', () => {
    writeAssembly({ Hooks: stackArtifact });
    expect(readCloudAssembly(folder).assetFolder('f00d.zip')).toBe(join(folder, 'asset.f00d'));
  });

  test('refuses an asset that it does not have', () => {
    writeAssembly({ Hooks: stackArtifact });
    expect(() => readCloudAssembly(folder).assetFolder('beef.zip')).toThrow(`No asset beef.zip in ${folder}`);
  });
});

test.each([
  ['no stack', { Tree: { type: 'cdk:tree' } }, 0],
  ['two stacks', { Hooks: stackArtifact, Others: stackArtifact }, 2],
])('a cloud assembly with %s is refused', (_what, artifacts, found) => {
  writeAssembly(artifacts);
  expect(() => readCloudAssembly(folder)).toThrow(`Expected one stack in ${folder}, found ${found}`);
});

test('a folder without a cloud assembly is refused with the file that is missing', () => {
  expect(() => readCloudAssembly(folder)).toThrow(join(folder, 'manifest.json'));
});

test('what `cdk synth` writes is read', () => {
  expect(readCloudAssembly(testAssembly()).name).toBe('PartnerWebhooks-dev');
});
