import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** An assembly that is wanted. */
export interface SynthesisRequest {
  /** Where it goes. Whoever asks for the same folder gets the same assembly. */
  readonly folder: string;
  /** Of the context in `cdk.json`. */
  readonly overrides: Record<string, unknown>;
  /** Whether it is held against CloudFormation's rules. @default true */
  readonly validate?: boolean;
}

/** Where the process is found. Test files run in processes of their own, which inherit it. */
const ADDRESS = 'TEST_SYNTHESISER';

/**
 * A process that synthesises for all test files. A further stage costs it a tenth of what it costs `cdk synth`, which
 * loads the CDK and bundles the functions each time.
 */
export class Synthesiser {
  readonly #process: ChildProcess;

  static async start(): Promise<Synthesiser> {
    const started = spawn(process.execPath, ['test/support/synthesiser-process.ts'], {
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    let errors = '';
    started.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    const [address] = await Promise.race([once(started.stdout, 'data'), once(started, 'close')]);
    if (!(address instanceof Buffer))
      throw new Error(errors.trim() || `The synthesiser ended with ${address}`);
    // What the CDK has to say of a stage stands in its assembly.
    started.stderr.removeAllListeners('data').resume();
    process.env[ADDRESS] = String(address).trim();
    return new Synthesiser(started);
  }

  private constructor(process: ChildProcess) {
    this.#process = process;
  }

  async close(): Promise<void> {
    const closed = once(this.#process, 'close');
    this.#process.stdin?.end();
    delete process.env[ADDRESS];
    await closed;
  }
}

/**
 * Has the process synthesise, unless it has done so before.
 * @throws Error where the stack cannot be synthesised so
 */
export async function synthesiseOnce(request: SynthesisRequest): Promise<void> {
  const address = process.env[ADDRESS];
  if (address === undefined) {
    // Of mutants all that is asked for is there: `test/mutate/synthesise-once.ts`.
    if (existsSync(join(request.folder, 'manifest.json'))) return;
    throw new Error(`The global set-up has neither started the synthesiser nor made ${request.folder}`);
  }
  const answer = await fetch(address, { method: 'POST', body: JSON.stringify(request) });
  if (!answer.ok) throw new Error(await answer.text());
}
