import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { startLocalStack } from 'local-aws';
import { synthesise } from '../../bin/synthesise.ts';
import { readSamples, type Sample } from '../../events/samples.ts';
import { LOCAL_SECRET } from '../../events/signing.ts';
import { sqsEvent } from '../../events/sqs-event.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { type Invoke, runBundle } from './run-bundle.ts';

const SETTLED = { batchItemFailures: [] };

/**
 * `node check-bundles.ts <package>`: runs each function's bundle with AWS's runtime interface client, from its folder,
 * with the environment and permissions of the local stack, and checks the answers.
 */
async function checkBundles(client: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'partner-webhooks-bundles-'));
  try {
    const assembly = join(folder, 'cdk.out');
    await synthesise(assembly);
    const stack = await startLocalStack({ assembly, port: 0, awsPort: 0, secret: LOCAL_SECRET });
    try {
      const samples = new Map(readSamples().map((sample) => [kebabCase(sample.event), sample]));
      assert.ok(stack.functions.size > samples.size, 'There are fewer functions than events');
      for (const [service, { definition }] of stack.functions) {
        const sample = samples.get(service);
        const work = sample ? consumer(sample) : others[service];
        assert.ok(work, `Nothing is known of what ${service} answers`);
        await runBundle(client, definition, work);
        console.log(`✓ ${service}`);
      }
    } finally {
      await stack.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const consumer = (sample: Sample) => async (invoke: Invoke) => {
  assert.deepEqual(await invoke({ Records: [] }), SETTLED);
  assert.deepEqual(await invoke(sqsEvent(sample)), SETTLED);
};

const others: Readonly<Record<string, (invoke: Invoke) => Promise<void>>> = {
  async receiver(invoke) {
    const [sample] = readSamples();
    assert.ok(sample);
    const event = JSON.parse(readFileSync(`events/api-gateway/${sample.name}.json`, 'utf8'));
    assert.equal(statusOf(await invoke(event)), 200);
    const headers = { ...event.headers, 'x-webhook-signature': '0'.repeat(64) };
    assert.equal(statusOf(await invoke({ ...event, headers })), 401);
  },

  /** A deletion of the stack needs no test: the function only reports success to CloudFormation. */
  async 'smoke-test'(invoke) {
    const cloudFormation = createServer().listen(0, '127.0.0.1');
    await once(cloudFormation, 'listening');
    const told = once(cloudFormation, 'request').then(([request, response]) => {
      response.end();
      return json(request);
    });
    try {
      const { port } = cloudFormation.address() as AddressInfo;
      const event = { RequestType: 'Delete', ResponseURL: `http://127.0.0.1:${port}`, RequestId: 'bundles' };
      assert.equal(await invoke(event), null);
      const { Status, RequestId } = (await told) as Record<string, unknown>;
      assert.deepEqual({ Status, RequestId }, { Status: 'SUCCESS', RequestId: 'bundles' });
    } finally {
      cloudFormation.closeAllConnections();
      cloudFormation.close();
    }
  },
};

function statusOf(answer: unknown): unknown {
  return typeof answer === 'object' && answer !== null && 'statusCode' in answer
    ? answer.statusCode
    : undefined;
}

const [client] = process.argv.slice(2);
if (client === undefined) throw new Error('Say where the package aws-lambda-ric is');
await checkBundles(client);
