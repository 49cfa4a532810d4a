import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AssetCode, Code } from 'aws-cdk-lib/aws-lambda';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { BundleError, messageText, mistakesIn, sourceMapReducer } from './bundle.ts';
import { BUNDLE_LIST, type BundleList } from './bundle-list.ts';
import { writeKeptBundles } from './kept-bundles.ts';

/** File that exports `handler`, from the project's root, by the function's name. */
const entries: Readonly<Record<string, string>> = {
  receiver: 'lambda/receiver/handler.ts',
  'smoke-test': 'lambda/smoke-test/handler.ts',
  ...Object.fromEntries(
    eventNames.map((event) => [kebabCase(event), `lambda/events/${kebabCase(event)}/consumer.ts`]),
  ),
};

/** Folder of the bundles in a cloud assembly. */
const BUNDLES = 'bundles';

/** The functions' code, ready to deploy: a folder of minified files for each, with everything it imports. */
export class FunctionBundles {
  readonly #folder: string;

  /**
   * Bundles all functions at once. `NodejsFunction` starts npx and esbuild for one after the other, which
   * takes most of the time of a synthesis.
   * @param outdir of the cloud assembly
   * @throws BundleError where a function does not build
   */
  static async build(outdir: string): Promise<FunctionBundles> {
    const folder = join(outdir, BUNDLES);
    // Files are named by their content: those of an earlier synthesis would be deployed, too.
    await rm(folder, { recursive: true, force: true });
    const functions = Object.entries(entries).map(([name, entry]) => ({
      name,
      entry,
      folder: join(folder, name),
    }));
    const bundles = await writeKeptBundles(functions, sourceMapReducer()).catch(async (reason) => {
      throw new BundleError(await messageText('error', mistakesIn(reason)));
    });
    const warnings = bundles.flatMap((bundle) => bundle.warnings);
    if (warnings.length > 0) console.error(await messageText('warning', warnings));
    const list: BundleList = Object.fromEntries(
      functions.map(({ name, entry }, index) => [name, { entry, sources: bundles[index]?.sources ?? [] }]),
    );
    await writeFile(join(outdir, BUNDLE_LIST), JSON.stringify(list));
    return new FunctionBundles(folder);
  }

  /**
   * Folders in the place of bundles, for whoever looks at nothing of a template that the functions' code changes: esbuild
   * takes most of a synthesis' processor time.
   * @param outdir of the cloud assembly
   */
  static async withoutCode(outdir: string): Promise<FunctionBundles> {
    const folder = join(outdir, BUNDLES);
    for (const [name, entry] of Object.entries(entries)) {
      await mkdir(join(folder, name), { recursive: true });
      await writeFile(join(folder, name, 'index.mjs'), `// ${entry}\n`);
    }
    return new FunctionBundles(folder);
  }

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param name `receiver`, `smoke-test`, or an event in kebab case */
  code(name: string): AssetCode {
    return Code.fromAsset(join(this.#folder, name));
  }
}
