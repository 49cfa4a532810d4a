/**
 * Tests a local stack against docs/api/openapi.json with schemathesis.
 *   .ci/test-api.ts <folder for the synthesised stack>
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startLocalStack } from 'local-aws';
import { synthesise } from '../bin/synthesise.ts';

/** API Gateway answers another method with 404, not 405. An optional field of another type is ignored, not rejected. */
const NOT_OURS = 'unsupported_method,negative_data_rejection';

const [assembly = ''] = process.argv.slice(2);
const secret = 'secret of a test';

await synthesise(assembly);
const stack = await startLocalStack({ assembly, port: 0, awsPort: 0, secret, onProblem: console.error });
const { origin } = new URL(stack.outputs.WebhookUrl ?? '');
const args = `run docs/api/openapi.json --url ${origin} --phases examples,coverage,fuzzing --max-examples 100`;
const env = { WEBHOOK_SECRET: secret, SCHEMATHESIS_HOOKS: 'schemathesis_hooks', PYTHONPATH: '.ci' };
const child = spawn('.ci/venv/bin/schemathesis', [...args.split(' '), '--exclude-checks', NOT_OURS], {
  stdio: 'inherit',
  env: { ...process.env, ...env },
});
[process.exitCode] = await once(child, 'close');
await stack.close();
