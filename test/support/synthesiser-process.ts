import { copyFile } from 'node:fs/promises';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { listen } from 'local-aws/http-server';
import { readContext } from '../../bin/synthesise.ts';
import { BUNDLE_LIST } from '../../lib/release/function-bundles.ts';
import { webhookApp } from '../../lib/webhook-app.ts';
import type { SynthesisRequest } from './synthesiser.ts';

/** The first bundles, which are the same for every stage, and the assembly that they were made for. */
let shared: { readonly bundles: string; readonly folder: string } | undefined;

/** The results, by requested folder: undefined, or the error. */
const answers = new Map<string, Promise<string | undefined>>();
let last: Promise<unknown> = Promise.resolve();

async function synthesise({
  folder,
  overrides,
  validate = true,
}: SynthesisRequest): Promise<string | undefined> {
  process.env.CDK_VALIDATION = String(validate);
  try {
    const { app, bundles } = await webhookApp({
      outdir: folder,
      context: { ...readContext(), ...overrides },
      bundles: shared?.bundles,
    });
    app.synth();
    if (shared) await copyFile(join(shared.folder, BUNDLE_LIST), join(folder, BUNDLE_LIST));
    else {
      shared = { bundles, folder };
      // Saves the compile cache for other processes that synthesise, such as `npm start`.
      flushCompileCache();
    }
    if (process.exitCode === undefined) return undefined;
    // The CDK sets the exit code if it has found something that must not be deployed.
    process.exitCode = undefined;
    return `What was found in ${folder} stands in its validation-report.json`;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

const { port } = await listen(
  // A synthesis blocks the process. If that takes a minute, Node.js' defaults answer waiting requests with 408.
  { headersTimeout: 0, requestTimeout: 0 },
  async (request, response) => {
    const asked: SynthesisRequest = JSON.parse(await text(request));
    let answer = answers.get(asked.folder);
    if (answer === undefined) {
      // Syntheses run one after another, because they share the bundles.
      answer = last.then(() => synthesise(asked));
      answers.set(asked.folder, answer);
      last = answer;
    }
    const failure = await answer;
    response.writeHead(failure === undefined ? 200 : 500).end(failure);
  },
  { port: 0, host: '127.0.0.1' },
);
console.log(`http://127.0.0.1:${port}/`);
// This process ends with the tests, however they end.
process.stdin.resume().on('end', () => process.exit());
