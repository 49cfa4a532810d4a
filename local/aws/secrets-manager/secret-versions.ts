import * as z from 'zod/mini';

export const CURRENT = 'AWSCURRENT';
const PREVIOUS = 'AWSPREVIOUS';

export const secretVersion = z.object({
  id: z.string(),
  secretString: z.optional(z.string()),
  /** Base64, as it travels. */
  secretBinary: z.optional(z.string()),
  stages: z.array(z.string()),
  /** Epoch seconds with a fraction. */
  createdDate: z.number(),
});

export type SecretVersion = z.infer<typeof secretVersion>;

export function holderOf(versions: SecretVersion[], stage: string): SecretVersion | undefined {
  return versions.find(({ stages }) => stages.includes(stage));
}

export function detach(versions: SecretVersion[], stage: string): void {
  for (const version of versions) version.stages = version.stages.filter((label) => label !== stage);
}

/** Moves a staging label to a version. What AWSCURRENT leaves becomes AWSPREVIOUS. */
export function attach(versions: SecretVersion[], version: SecretVersion, stage: string): void {
  const holder = holderOf(versions, stage);
  if (holder === version) return;
  detach(versions, stage);
  version.stages.push(stage);
  if (stage !== CURRENT || holder === undefined) return;
  detach(versions, PREVIOUS);
  holder.stages.push(PREVIOUS);
}
