import { join } from 'node:path';
import { Stage } from 'aws-cdk-lib';
import { type AssetCode, Code } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type BuildOptions, buildSync } from 'esbuild';

/** How the functions are bundled. `bench/start-up.ts` shows what each choice is worth. */
export const BUNDLE_OPTIONS: BuildOptions = {
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  // The SDK's module builds: esbuild drops what is not used, which it cannot in CommonJS builds.
  mainFields: ['module', 'main'],
  alias: { '@aws-sdk/credential-provider-node': './lambda/environment-credentials.ts' },
  legalComments: 'none',
  logLevel: 'warning',
};

/**
 * Bundles the functions: each becomes one minified file with everything that it imports.
 *
 * All of them are built in one pass of esbuild. `NodejsFunction` starts npx and esbuild once for each
 * function, which takes most of the time of a synthesis.
 */
export class FunctionBundles {
  readonly #folder: string;

  /**
   * @param entries file that exports `handler`, from the project's root, by the function's name
   * @throws Error with esbuild's messages where an entry does not build
   */
  constructor(scope: Construct, entries: Readonly<Record<string, string>>) {
    this.#folder = join(Stage.of(scope)?.outdir ?? 'cdk.out', 'bundles');
    buildSync({
      ...BUNDLE_OPTIONS,
      entryPoints: Object.entries(entries).map(([name, entry]) => ({ in: entry, out: `${name}/index` })),
      outdir: this.#folder,
      // As `.js` it would be an ES module wherever a package.json above it says so.
      outExtension: { '.js': '.cjs' },
    });
  }

  code(name: string): AssetCode {
    return Code.fromAsset(join(this.#folder, name));
  }
}
