import { setTimeout as sleep } from 'node:timers/promises';
import { SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { Faults } from '../../local/aws/faults.ts';
import { startLocalStack } from '../../local/local-stack.ts';
import type { Step } from '../../tools/cli/terminal/block.ts';
import { Queues } from '../support/queues.ts';
import { Tables } from '../support/tables.ts';
import { PartnerSimulator } from './partner-simulator.ts';

export interface OutageOptions {
  readonly assembly: string;
  /** How long DynamoDB is down, in seconds. */
  readonly seconds: number;
  readonly deliveries: number;
  /** Seconds until an unfinished message comes back. @default the template's */
  readonly visibilitySeconds?: number;
  /** Seconds before the first retry. @default the template's */
  readonly firstRetrySeconds?: number;
  /** @default none */
  readonly onProgress?: (progress: Step) => void;
}

export interface OutageReport {
  readonly deliveries: number;
  readonly processed: number;
  readonly deadLetters: number;
  /** From the return of DynamoDB until everything was processed. */
  readonly recoverySeconds: number;
}

const SECRET = 'outage-secret';

/** Posts while DynamoDB is down, and waits until everything is processed after it returns. */
export async function surviveOutage(options: OutageOptions): Promise<OutageReport> {
  const {
    assembly,
    seconds,
    deliveries,
    visibilitySeconds,
    firstRetrySeconds,
    onProgress = () => {},
  } = options;
  const faults = new Faults();
  const stack = await startLocalStack({
    assembly,
    port: 0,
    awsPort: 0,
    secret: SECRET,
    warmUp: false,
    faults,
    ...(firstRetrySeconds !== undefined && {
      environment: { FIRST_RETRY_DELAY_SECONDS: String(firstRetrySeconds) },
    }),
  });
  try {
    const queues = new Queues(stack.operator);
    const QueueUrl = stack.outputs.UserUpdatedQueueUrl ?? '';
    if (visibilitySeconds !== undefined) {
      const Attributes = { VisibilityTimeout: String(visibilitySeconds) };
      await queues.client.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
    }
    const partner = new PartnerSimulator(stack.outputs.WebhookUrl ?? '', SECRET);
    const mend = faults.inject({ service: 'dynamodb', kind: 'down' });
    for (let index = 0; index < deliveries; index += 1) {
      const body = {
        event: 'user.updated',
        data: { user_id: `user-${index}` },
        timestamp: '2026-01-31T09:00:00Z',
      };
      await partner.deliver(JSON.stringify(body));
    }
    for (let past = 0; past < seconds; past += 1) {
      onProgress({ doing: 'DynamoDB is down', done: past, total: seconds, unit: 'seconds' });
      await sleep(1000);
    }
    mend();
    const returned = performance.now();
    for (let left = deliveries; left > 0; left = await queues.count(QueueUrl)) {
      onProgress({ doing: 'Recovering', done: deliveries - left, total: deliveries });
      await sleep(250);
    }
    return {
      deliveries,
      processed: (await new Tables(stack.operator).scan(stack.outputs.ContactPartnerTable)).length,
      deadLetters: await queues.count(stack.outputs.UserUpdatedDeadLetterQueueUrl),
      recoverySeconds: Math.round((performance.now() - returned) / 1000),
    };
  } finally {
    await stack.close();
  }
}
