import { setTimeout as sleep } from 'node:timers/promises';
import { SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { startLocalStack } from '../../local/local-stack.ts';
import type { Step } from '../../tools/cli/terminal/block.ts';
import { Queues } from '../support/queues.ts';
import { PartnerSimulator } from './partner-simulator.ts';
import { takeAll } from './take-all.ts';

export interface KillsOptions {
  readonly assembly: string;
  readonly kills: number;
  /** Reviews that are posted for each kill. */
  readonly reviewsPerKill: number;
  /** Seconds until what a killed consumer had in hand comes back. @default the template's */
  readonly visibilitySeconds?: number;
  /** @default none */
  readonly onProgress?: (progress: Step) => void;
}

export interface KillsReport {
  readonly kills: number;
  /** Invocations that a kill ended. */
  readonly interrupted: number;
  readonly reviews: number;
  /** Reviews of which nobody was told. */
  readonly lost: number;
  /** Reviews that were told of more than once. */
  readonly repeated: number;
}

const SECRET = 'kills-secret';

/** Longest pause before a kill, in milliseconds: a batch of notifications takes some tens. */
const LONGEST_PAUSE = 60;

/**
 * Kills the consumer of review.posted again and again while it sends notifications, and counts what
 * was told never, once and more often.
 */
export async function surviveKills(options: KillsOptions): Promise<KillsReport> {
  const { assembly, kills, reviewsPerKill, visibilitySeconds, onProgress = () => {} } = options;
  let interrupted = 0;
  const stack = await startLocalStack({
    assembly,
    port: 0,
    awsPort: 0,
    secret: SECRET,
    environment: { FIRST_RETRY_DELAY_SECONDS: '1' },
    onLog: ({ text }) => {
      if (text.includes('Runtime.ExitError')) interrupted += 1;
    },
  });
  try {
    const queues = new Queues(stack.operator);
    const QueueUrl = stack.outputs.ReviewPostedQueueUrl ?? '';
    if (visibilitySeconds !== undefined) {
      const Attributes = { VisibilityTimeout: String(visibilitySeconds) };
      await queues.client.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
    }
    const room = await queues.subscribe(stack.outputs.ReviewTopicArn, 'kills-review');
    const partner = new PartnerSimulator(stack.outputs.WebhookUrl ?? '', SECRET);
    const consumer = stack.functions.get('review-posted')?.function;
    for (let kill = 0; kill < kills; kill += 1) {
      await Promise.all(
        Array.from({ length: reviewsPerKill }, (_, index) =>
          partner.deliver(review(kill * reviewsPerKill + index)),
        ),
      );
      await sleep((kill * 7) % LONGEST_PAUSE);
      await consumer?.kill();
      onProgress({ doing: 'Killing', done: kill + 1, total: kills });
    }
    while ((await queues.count(QueueUrl)) > 0) await sleep(250);

    const times = new Map<string, number>();
    for (const { MessageAttributes } of await takeAll(queues, [room])) {
      const id = MessageAttributes?.eventId?.StringValue ?? '';
      times.set(id, (times.get(id) ?? 0) + 1);
    }
    const reviews = kills * reviewsPerKill;
    return {
      kills,
      interrupted,
      reviews,
      lost: reviews - times.size,
      repeated: [...times.values()].filter((count) => count > 1).length,
    };
  } finally {
    await stack.close();
  }
}

const review = (index: number) =>
  JSON.stringify({
    event: 'review.posted',
    data: { review_id: `review-${index}`, rating: 5 },
    timestamp: '2026-01-31T09:00:00Z',
  });
