import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startLocalStack } from '../../../local/local-stack.ts';
import { synthesise } from '../../../local/template/synthesise.ts';

const SECRET = 'secret of a generated client';

const FOLDER = '.ci/api/client';

/** What posts an event by a generated client and prints the answer, by the generator. */
const CLIENTS: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  'oapi-codegen': [`${FOLDER}/go/generated/post-event`],
  'openapi-python-client': ['.ci/api/venv/bin/python', `${FOLDER}/python/post_event.py`],
  'openapi-typescript': [process.execPath, `${FOLDER}/typescript/post-event.ts`],
};

/** Posts an event to a stack by each client that the description gives. @returns what went wrong */
export async function checkClients(): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-api-'));
  try {
    await synthesise(folder);
    const stack = await startLocalStack({
      assembly: folder,
      port: 0,
      awsPort: 0,
      secret: SECRET,
      onProblem: (message) => console.error(message),
    });
    try {
      const { origin: ORIGIN } = new URL(stack.outputs.WebhookUrl ?? '');
      const env = { ...process.env, ORIGIN, WEBHOOK_SECRET: SECRET };
      const problems: string[] = [];
      for (const [generator, [command, ...args]] of Object.entries(CLIENTS)) {
        const answer = await promisify(execFile)(command, args, { env }).then(
          ({ stdout }) => stdout.trim(),
          (error: Error) => error.message,
        );
        console.log(`${generator}: ${answer}`);
        if (answer !== '200 queued') problems.push(`The client of ${generator} got no 200 queued`);
      }
      return problems;
    } finally {
      await stack.close();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
