import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';

/** Thrown if the stack cannot be synthesised. The message is that of the CDK app. */
class SynthesisError extends Error {
  override readonly name = 'SynthesisError';
}

/**
 * Synthesises the CDK app in a separate process, as the command `cdk` does.
 * @param folder for the cloud assembly
 * @param overrides of the context in `cdk.json`, as with `-c`
 * @throws SynthesisError if the app fails
 */
export async function synthesise(folder: string, overrides: Record<string, unknown> = {}): Promise<void> {
  await runSynthesis('bin/app.ts', {
    CDK_OUTDIR: folder,
    CDK_CONTEXT_JSON: JSON.stringify({ ...readContext(), ...overrides }),
  });
}

/**
 * Runs a program that synthesises. Templates are not validated against CloudFormation's rules, which would
 * take most of the processor time: `cdk synth`, each deployment and the tests validate them.
 * @param environment added to that of this process
 * @throws SynthesisError if the program fails
 */
export async function runSynthesis(
  program: string,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const compiled = getCompileCacheDir();
  const app = spawn(process.execPath, [program], {
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      // The cache of this process is a subfolder for its version of Node.js, so the folder above is passed on.
      ...(compiled && { NODE_COMPILE_CACHE: dirname(compiled) }),
      CDK_VALIDATION: 'false',
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [errors, [code, signal]] = await Promise.all([text(app.stderr), once(app, 'close')]);
  if (code !== 0) throw new SynthesisError(errors.trim() || `${program} ended with ${code ?? signal}`);
}

/** Context that overrides fields of the selected stage. */
export function stageOverrides(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { stage, stages } = readContext();
  return { stages: { ...stages, [stage]: { ...stages[stage], ...fields } } };
}

interface CdkContext extends Record<string, unknown> {
  readonly stage: string;
  readonly stages: Readonly<Record<string, object>>;
}

/**
 * The context in `cdk.json`.
 * @throws SynthesisError if the file is not JSON
 */
export function readContext(): CdkContext {
  try {
    return (JSON.parse(readFileSync('cdk.json', 'utf8')) as { context: CdkContext }).context;
  } catch (error) {
    throw new SynthesisError(`cdk.json: ${(error as Error).message}`);
  }
}
