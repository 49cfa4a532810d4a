import { join } from 'node:path';
import { Stage } from 'aws-cdk-lib';
import { type AssetCode, Code } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { buildSync } from 'esbuild';

/**
 * Bundles the functions: each becomes one minified ES module with everything it imports.
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
      entryPoints: Object.entries(entries).map(([name, entry]) => ({ in: entry, out: `${name}/index` })),
      outdir: this.#folder,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      minify: true,
      platform: 'node',
      target: 'node24',
      format: 'esm',
      // The SDK's module builds: esbuild drops what is not used, which it cannot in CommonJS.
      mainFields: ['module', 'main'],
      legalComments: 'none',
      logLevel: 'warning',
    });
  }

  code(name: string): AssetCode {
    return Code.fromAsset(join(this.#folder, name));
  }
}
