import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetQueueAttributesCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { expect } from '@jest/globals';
import type { EventName } from '../../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../../lambda/events/event-names.ts';
import type { LocalStack } from '../../../../local/local-stack.ts';
import type { Operator } from '../queues/support.ts';

/**
 * Lets the consumer of an event crash on each message. SQS gives a message up after some seconds, as a stage does after
 * many minutes.
 * @returns ends the crashes
 */
export async function crashConsumer(
  stack: LocalStack,
  { stack: stage }: Operator,
  event: EventName,
  maxReceiveCount: number,
) {
  const { queueUrl: QueueUrl } = stage.event(event);
  const { Attributes = {} } = await stage.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['RedrivePolicy'] }),
  );
  const RedrivePolicy = JSON.stringify({ ...JSON.parse(Attributes.RedrivePolicy ?? '{}'), maxReceiveCount });
  await stage.sqs.send(
    new SetQueueAttributesCommand({ QueueUrl, Attributes: { RedrivePolicy, VisibilityTimeout: '1' } }),
  );
  const name = kebabCase(event);
  const before = stack.functions.get(name)?.definition.codeDirectory ?? '';
  const folder = await mkdtemp(join(tmpdir(), 'crashing-'));
  await writeFile(join(folder, 'index.mjs'), 'export const handler = () => process.exit(1);');
  expect(await stack.replaceCode(name, folder)).toBeUndefined();
  return async () => {
    expect(await stack.replaceCode(name, before)).toBeUndefined();
    await rm(folder, { recursive: true });
  };
}
