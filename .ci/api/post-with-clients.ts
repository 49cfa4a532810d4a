/** Posts an event to a local stack with each client that was generated from docs/api/openapi.json. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startLocalStack } from 'local-aws';
import { synthesise } from '../../bin/synthesise.ts';

const SECRET = 'secret of a generated client';
const FOLDER = '.ci/api/client';

const CLIENTS: readonly (readonly [command: string, ...args: string[]])[] = [
  [`${FOLDER}/go/generated/post-event`],
  ['.ci/api/venv/bin/python', `${FOLDER}/python/post_event.py`],
  [process.execPath, `${FOLDER}/typescript/post-event.ts`],
];

const assembly = mkdtempSync(join(tmpdir(), 'partner-webhooks-api-'));
try {
  await synthesise(assembly);
  const stack = await startLocalStack({
    assembly,
    port: 0,
    awsPort: 0,
    secret: SECRET,
    onProblem: (message) => console.error(message),
  });
  try {
    const { origin: ORIGIN } = new URL(stack.outputs.WebhookUrl ?? '');
    const env = { ...process.env, ORIGIN, WEBHOOK_SECRET: SECRET };
    for (const [command, ...args] of CLIENTS) {
      const { stdout } = await promisify(execFile)(command, args, { env });
      const answer = stdout.trim();
      console.log(`${args.at(-1) ?? command}: ${answer}`);
      if (answer !== '200 queued') process.exitCode = 1;
    }
  } finally {
    await stack.close();
  }
} finally {
  rmSync(assembly, { recursive: true });
}
