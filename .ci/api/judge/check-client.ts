import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalStack } from '../../../local/local-stack.ts';
import { synthesise } from '../../../local/template/synthesise.ts';
import { postShopUpdated } from '../client/post-event.ts';

const SECRET = 'secret of a generated client';

/** Posts an event to a stack by the client that the description gives. @returns what went wrong */
export async function checkClient(): Promise<string[]> {
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
      const { origin } = new URL(stack.outputs.WebhookUrl ?? '');
      const status = await postShopUpdated({ baseUrl: origin, secret: SECRET });
      return status === 'queued' ? [] : [`The generated client’s event became ${status}, not queued`];
    } finally {
      await stack.close();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
