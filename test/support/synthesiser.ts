import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface SynthesisRequest {
  /** Output folder. Requests for the same folder get the same assembly. */
  readonly folder: string;
  /** Overrides of the context in `cdk.json`. */
  readonly overrides: Record<string, unknown>;
  /** Whether to check the assembly against CloudFormation's rules. @default true */
  readonly validate?: boolean;
}

/** Environment variable with the process's address. Processes of test files inherit it. */
const ADDRESS = 'TEST_SYNTHESISER';

/**
 * Starts a process that synthesises for all test files. A further stage takes a tenth of the time of `cdk synth`, which
 * loads the CDK and bundles the functions each time.
 * @returns a function that ends it
 */
export async function startSynthesiser(): Promise<() => Promise<void>> {
  const started = spawn(process.execPath, ['test/support/synthesiser-process.ts'], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  let errors = '';
  started.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [address] = await Promise.race([once(started.stdout, 'data'), once(started, 'close')]);
  if (!(address instanceof Buffer)) throw new Error(errors.trim() || `The synthesiser ended with ${address}`);
  // The CDK's messages about a stage are in its assembly.
  started.stderr.removeAllListeners('data').resume();
  process.env[ADDRESS] = String(address).trim();
  return async () => {
    const closed = once(started, 'close');
    started.stdin.end();
    await closed;
  };
}

/**
 * Synthesises in the process, unless it has already done so.
 * @throws Error if the stack cannot be synthesised
 */
export async function synthesiseOnce(request: SynthesisRequest): Promise<void> {
  const address = process.env[ADDRESS];
  if (address === undefined) throw new Error('The global set-up has not started the synthesiser');
  // A synthesis blocks the process for seconds. It then closes idle connections, also one that was just used again.
  const headers = { connection: 'close' };
  const answer = await fetch(address, { method: 'POST', headers, body: JSON.stringify(request) });
  if (!answer.ok) throw new Error(await answer.text());
}
