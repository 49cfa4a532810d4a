import { cp, readFile, rm } from 'node:fs/promises';
import { build } from 'esbuild';
import { kebabCase } from '../../../../lambda/events/event-names.ts';
import { BUNDLE_OPTIONS } from '../../../../lib/release/function-bundles.ts';
import type { LocalStack } from '../../../../local/local-stack.ts';

/** A mistake in a consumer's source. */
export interface Mistake {
  readonly event: string;
  readonly right: string;
  readonly wrong: string;
}

/**
 * Deploys a consumer with a mistake, as somebody would who had made it: bundled from its source like the one that it
 * replaces. What it has in hand ends as it does where a machine dies.
 * @param stack of an assembly that no other test runs
 * @returns deploys the right one again
 * @throws Error where the source has nothing that could be mistaken so
 */
export async function deployMistake(
  stack: LocalStack,
  { event, right, wrong }: Mistake,
): Promise<() => Promise<void>> {
  const name = kebabCase(event);
  const deployed = stack.functions.get(name);
  if (deployed === undefined) throw new Error(`No function ${name}`);
  const folder = deployed.definition.codeDirectory;
  const source = `lambda/events/${name}/consumer.ts`;
  const text = await readFile(source, 'utf8');
  if (!text.includes(right)) throw new Error(`${source} does not say ${right}`);

  await cp(folder, `${folder}.right`, { recursive: true });
  await rm(folder, { recursive: true });
  await build({
    ...BUNDLE_OPTIONS,
    entryPoints: { index: source },
    outdir: folder,
    plugins: [
      {
        name: 'mistake',
        setup: ({ onLoad }) =>
          onLoad({ filter: new RegExp(`/events/${name}/consumer\\.ts$`) }, () => ({
            contents: text.replace(right, wrong),
            loader: 'ts',
            resolveDir: `lambda/events/${name}`,
          })),
      },
    ],
  });
  await deployed.function.kill();

  return async () => {
    await rm(folder, { recursive: true });
    await cp(`${folder}.right`, folder, { recursive: true });
    await deployed.function.kill();
  };
}
