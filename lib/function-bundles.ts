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
  format: 'esm',
  // What is imported on demand stays in a file of its own, which is read on demand.
  splitting: true,
  // The SDK's module builds: esbuild drops what is not used, which it cannot in CommonJS builds.
  mainFields: ['module', 'main'],
  alias: {
    '@aws-sdk/credential-provider-node': './lambda/environment-credentials.ts',
    bowser: './lambda/no-browser.ts',
  },
  outExtension: { '.js': '.mjs' },
  legalComments: 'none',
  logLevel: 'warning',
};

/**
 * Bundles the functions: each becomes a folder of minified files, with everything that it imports.
 *
 * esbuild is called in this process. `NodejsFunction` starts npx and esbuild once for each function,
 * which takes most of the time of a synthesis.
 */
export class FunctionBundles {
  readonly #folder: string;
  readonly #entries: Readonly<Record<string, string>>;

  /** @param entries file that exports `handler`, from the project's root, by the function's name */
  constructor(scope: Construct, entries: Readonly<Record<string, string>>) {
    this.#folder = join(Stage.of(scope)?.outdir ?? 'cdk.out', 'bundles');
    this.#entries = entries;
  }

  /** @throws Error with esbuild's messages where the entry does not build */
  code(name: string): AssetCode {
    const outdir = join(this.#folder, name);
    buildSync({ ...BUNDLE_OPTIONS, entryPoints: { index: this.#entries[name] ?? '' }, outdir });
    return Code.fromAsset(outdir);
  }
}
