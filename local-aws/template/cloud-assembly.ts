import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';

const manifestSchema = z.object({
  artifacts: z.record(
    z.string(),
    z.object({
      type: z.string(),
      displayName: z.optional(z.string()),
      properties: z.optional(z.looseObject({ templateFile: z.optional(z.string()) })),
    }),
  ),
});

const assetsSchema = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.object({ path: z.string() }),
      destinations: z.record(z.string(), z.object({ objectKey: z.string() })),
    }),
  ),
});

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z._default(z.record(z.string(), z.unknown()), {}) }),
  ),
  Outputs: z._default(z.record(z.string(), z.object({ Value: z.unknown() })), {}),
});

export type StackTemplate = z.infer<typeof templateSchema>;

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
  const json = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const { artifacts } = manifestSchema.parse(json('manifest.json'));
  const stacks = Object.entries(artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack');
  const [stack] = stacks;
  const templateFile = stack?.[1].properties?.templateFile;
  if (stack === undefined || templateFile === undefined || stacks.length > 1) {
    throw new Error(`Expected one stack in ${folder}, found ${stacks.length}`);
  }
  const [name] = stack;

  const { files } = assetsSchema.parse(json(`${name}.assets.json`));
  const folders = new Map(
    Object.values(files).flatMap(({ source, destinations }) =>
      Object.values(destinations).map(({ objectKey }) => [objectKey, join(folder, source.path)] as const),
    ),
  );
  return {
    name,
    template: templateSchema.parse(json(templateFile)),
    assetFolder(objectKey) {
      const asset = folders.get(objectKey);
      if (asset === undefined) throw new Error(`No asset ${objectKey} in ${folder}`);
      return asset;
    },
  };
}
