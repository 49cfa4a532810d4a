import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Artifact {
  readonly type: string;
  readonly properties: { readonly templateFile: string; readonly terminationProtection?: boolean };
  readonly additionalMetadataFile: string;
}

interface Asset {
  readonly source: { readonly path: string };
  readonly destinations: Readonly<Record<string, { readonly objectKey: string }>>;
}

export interface StackTemplate {
  readonly Resources: Readonly<
    Record<string, { readonly Type: string; readonly Properties?: Readonly<Record<string, unknown>> }>
  >;
  readonly Outputs: Readonly<Record<string, { readonly Value: unknown }>>;
}

export interface SynthesisedStack {
  readonly name: string;
  readonly template: StackTemplate;
  /** Folder of an asset, by its `S3Key` in the template. */
  readonly assetFolder: (objectKey: string) => string;
}

/**
 * Reads a cloud assembly with a single stack.
 * @param folder such as `cdk.out`
 * @throws Error if the folder has no stack, or several
 */
export function readCloudAssembly(folder: string): SynthesisedStack {
  const { name, artifact, json } = onlyStack(folder);
  const folders = new Map<string, string>();
  for (const { source, destinations } of Object.values<Asset>(json(`${name}.assets.json`).files)) {
    for (const { objectKey } of Object.values(destinations))
      folders.set(objectKey, join(folder, source.path));
  }
  return {
    name,
    template: { Outputs: {}, ...json(artifact.properties.templateFile) },
    assetFolder(objectKey) {
      const asset = folders.get(objectKey);
      if (asset === undefined) throw new Error(`No asset ${objectKey} in ${folder}`);
      return asset;
    },
  };
}

/** @returns the stack of a cloud assembly, and a function that reads a file of the folder */
export function onlyStack(folder: string) {
  const json = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const stacks = Object.entries<Artifact>(json('manifest.json').artifacts).filter(
    ([, { type }]) => type === 'aws:cloudformation:stack',
  );
  const [[name, artifact] = []] = stacks;
  if (name === undefined || artifact === undefined || stacks.length > 1) {
    throw new Error(`Expected one stack in ${folder}, found ${stacks.length}`);
  }
  return { name, artifact, json };
}
