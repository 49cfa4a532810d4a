import { setTimeout as sleep } from 'node:timers/promises';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SendMessageCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { type LocalStack, startLocalStack } from 'local-aws';
import { type Fault, InjectedFaults } from 'local-aws/faults';
import { catalogue, eventNames } from '../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../lambda/events/event-names.ts';
import { DUPLICATE, FAILED, POSSIBLY_REPEATED, PROCESSED } from '../../../lambda/log-messages.ts';
import { eventAttributes } from '../../../lambda/queue/message.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { FIVE_MINUTES, type ReceivedDelivery } from '../../../test/support/oracle.ts';
import { Queues } from '../../../test/support/queues.ts';
import type { ProgressStep } from '../../terminal/progress.ts';
import {
  type AcceptedBody,
  archiveDifferences,
  idOf,
  notificationDifferences,
  queueDifferences,
  stateDifferences,
  takeAll,
} from './differences.ts';
import { makePlan, PartnerSimulator, type PlannedBody } from './partner.ts';

interface SoakOptions {
  /** Folder of the stack's cloud assembly. */
  readonly assembly: string;
  /** Called when the progress changes. @default none */
  readonly onProgress?: (progress: ProgressStep) => void;
  /** Number of posts, without retries after 401 and 500. */
  readonly deliveries: number;
  readonly seed: number;
}

const SENDERS = 8;
/** How often a function is killed during its work. */
const KILLS = 20;
const FIRST_SECRET = 'soak-secret-1';
const SECOND_SECRET = 'soak-secret-2';

/** Faults that are active during the whole run. Each makes one to three percent of the calls fail. */
const FAULTS: readonly Fault[] = [
  { service: 'sqs', kind: 'throttled', share: 0.01 },
  { service: 'sqs', kind: 'down', share: 0.01 },
  { service: 'sqs', operation: 'SendMessage', kind: 'response-lost', share: 0.01 },
  { service: 'sqs', operation: 'DeleteMessageBatch', kind: 'response-lost', share: 0.01 },
  { service: 'dynamodb', kind: 'throttled', share: 0.02 },
  { service: 'dynamodb', kind: 'down', share: 0.01 },
  { service: 'dynamodb', kind: 'response-lost', share: 0.01 },
  { service: 'dynamodb', kind: 'slow', milliseconds: 100, share: 0.01 },
  // Without lost responses of SNS: no consumer can tell them from failures. See `docs/reliability.md`.
  { service: 'sns', kind: 'throttled', share: 0.02 },
  { service: 'sns', kind: 'down', share: 0.01 },
  { service: 'sns', kind: 'slow', milliseconds: 100, share: 0.01 },
  { service: 'firehose', kind: 'throttled', share: 0.02 },
  { service: 'firehose', kind: 'down', share: 0.01 },
  { service: 'firehose', kind: 'response-lost', share: 0.01 },
  { service: 'firehose', kind: 'slow', milliseconds: 100, share: 0.01 },
  { service: 'firehose', kind: 'records-refused', share: 0.02 },
  { service: 's3', kind: 'down', share: 0.02 },
  { service: 's3', kind: 'response-lost', share: 0.01 },
  { service: 'secretsmanager', kind: 'down', share: 0.2 },
];

/** Milliseconds for which a service is completely down. */
const OUTAGE = 3_000;

/** Seconds until messages of a killed function become visible again. The template has 180. */
const VISIBILITY_SECONDS = 5;

/** Maximum milliseconds until all queues are empty. */
const QUIET_LIMIT = 10 * 60_000;

/**
 * Functions that are killed. Consumers that notify are not killed: a consumer that dies between the notification and
 * its idempotency item notifies again.
 */
const KILLED = [
  'receiver',
  ...eventNames.filter((event) => !['chat', 'review'].includes(catalogue[event].effect)).map(kebabCase),
];

/**
 * Posts a plan to a stack with faults, waits until the stack is idle, and compares its state with that of the
 * oracle.
 */
export async function soak(options: SoakOptions) {
  const { assembly, deliveries, seed, onProgress = () => {} } = options;
  const plan = makePlan({ deliveries, seed });
  const faults = new InjectedFaults(seed);
  const log = new SoakLog();
  const stack = await startLocalStack({
    assembly,
    port: 0,
    awsPort: 0,
    secret: FIRST_SECRET,
    faults,
    environment: { FIRST_RETRY_DELAY_SECONDS: '0.1' },
    onLog: ({ text }) => log.read(text),
  });
  try {
    const queues = new Queues(stack.operator);
    const Attributes = { VisibilityTimeout: String(VISIBILITY_SECONDS) };
    for (const QueueUrl of eventQueues(stack))
      await queues.client.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
    const subscribers = [
      await queues.subscribe(stack.outputs.ChatTopicArn, 'soak-chat'),
      await queues.subscribe(stack.outputs.ReviewTopicArn, 'soak-review'),
    ];
    const partner = new PartnerSimulator(stack.outputs.WebhookUrl ?? '', FIRST_SECRET);
    const sender = new Sender({ stack, queues, partner, faults, log }, plan);
    const progress = setInterval(() => onProgress(sender.progress()), 1_000);
    try {
      await sender.run();
    } finally {
      clearInterval(progress);
    }
    faults.clear();
    await quiet(stack, queues, onProgress);

    const notified = await takeAll(queues, subscribers);
    const onQueues = await queueDifferences(stack, queues, plan);
    const archive = await archiveDifferences(stack, sender.accepted, onQueues.deadLetterIds);
    return {
      seed,
      posts: sender.posts,
      answers: partner.answers,
      /** Number of calls that failed because of a fault, by kind of fault. */
      faults: faults.counts,
      kills: sender.kills,
      /**
       * Number of archive records. It exceeds that of events, because repeated messages have records, too.
       */
      archived: archive.records,
      /** Differences between the stack's state and that of the oracle. */
      differences: [
        ...sender.wronglyAnswered,
        ...(await stateDifferences(stack, sender.stateDeliveries)),
        ...notificationDifferences(plan, notified, log.possiblyRepeated),
        ...onQueues.differences,
        ...archive.differences,
      ],
    };
  } finally {
    await stack.close();
  }
}

interface SoakRun {
  readonly stack: LocalStack;
  readonly queues: Queues;
  readonly partner: PartnerSimulator;
  readonly faults: InjectedFaults;
  readonly log: SoakLog;
}

/** Posts the plan by several concurrent senders, rotates the secret half-way, and causes faults. */
class Sender {
  posts = 0;
  kills = 0;
  /** Bodies for which the answer was wrong. */
  readonly wronglyAnswered: string[] = [];
  /** Deliveries that the oracle must process. */
  readonly stateDeliveries: ReceivedDelivery[] = [];
  /** Bodies answered 200. */
  readonly accepted: AcceptedBody[] = [];
  readonly #corrected = new Set<string>();
  readonly #run: SoakRun;
  readonly #line: PlannedBody[];
  readonly #total: number;

  constructor(run: SoakRun, plan: readonly PlannedBody[]) {
    this.#run = run;
    this.#line = inPostingOrder(plan);
    this.#total = this.#line.length;
  }

  progress(): ProgressStep {
    const answers = Object.entries(this.#run.partner.answers).map(([status, times]) => `${status}: ${times}`);
    const note = `${answers.join(', ')} · ${this.kills} kills`;
    return { doing: 'Posting', done: this.posts, total: this.#total, note };
  }

  async run(): Promise<void> {
    for (const fault of FAULTS) this.#run.faults.inject(fault);
    await Promise.all(Array.from({ length: SENDERS }, () => this.#send()));
  }

  async #send(): Promise<void> {
    for (let next = this.#line.shift(); next !== undefined; next = this.#line.shift()) {
      this.posts += 1;
      void this.#disturb();
      await this.#post(next);
    }
  }

  async #post({ kind, body }: PlannedBody): Promise<void> {
    if (kind === 'hopeless') return await this.#sendByHand(body);
    const status = await this.#run.partner.deliver(body, { forged: kind === 'forged' });
    const right = kind === 'forged' ? 401 : kind === 'malformed' ? 400 : 200;
    // The last retry of a forged body may be answered 500. It may never be accepted.
    if (status !== right && !(kind === 'forged' && status !== 200 && status !== 400)) {
      this.wronglyAnswered.push(`${kind} answered ${status} at last: ${idOf(body)}`);
    }
    if (status === 200) this.accepted.push({ kind, body });
    if (kind === 'state') this.stateDeliveries.push({ body, receivedAt: new Date().toISOString() });
    if (kind === 'clock-ahead' && !this.#corrected.has(body)) await this.#correct(body);
  }

  /** Puts a message for user.updated directly on its queue, as if the receiver had accepted it. */
  async #sendByHand(body: string): Promise<void> {
    this.accepted.push({ kind: 'hopeless', body });
    await this.#run.queues.client.send(
      new SendMessageCommand({
        QueueUrl: this.#run.stack.outputs.UserUpdatedQueueUrl,
        MessageBody: body,
        MessageAttributes: eventAttributes({
          event: 'user.updated',
          eventId: idOf(body),
          receivedAt: new Date().toISOString(),
          requestId: 'by-hand',
        }),
      }),
    );
  }

  /**
   * Waits until an event from a fast clock has its effect, so that its first receipt counts. Then sends an event with a
   * later timestamp, which must win, whatever copies of the first one follow.
   */
  async #correct(ahead: string): Promise<void> {
    this.#corrected.add(ahead);
    await eventually(async () => this.#run.log.settled.has(idOf(ahead)) || undefined);
    const timestamp = new Date(Date.now() + FIVE_MINUTES).toISOString();
    const body = JSON.stringify({ ...JSON.parse(ahead), timestamp });
    await this.#run.partner.deliver(body);
    this.accepted.push({ kind: 'clock-ahead', body });
    this.stateDeliveries.push({ body, receivedAt: new Date().toISOString() });
  }

  async #disturb(): Promise<void> {
    const part = (share: number) => this.posts === Math.ceil(this.#total * share);
    if (part(1 / 4)) this.#outage({ service: 'dynamodb', kind: 'down' });
    if (part(5 / 8)) this.#outage({ service: 'firehose', kind: 'down' });
    if (part(3 / 4)) this.#outage({ service: 'sqs', operation: 'SendMessage', kind: 'down' });
    if (this.posts % Math.ceil(this.#total / KILLS) === 0) {
      this.kills += 1;
      const name = KILLED[this.kills % KILLED.length] ?? '';
      await this.#run.stack.functions.get(name)?.kill();
    }
    if (part(1 / 2)) {
      const SecretId = this.#run.stack.outputs.WebhookSecretArn;
      const rotate = new PutSecretValueCommand({ SecretId, SecretString: SECOND_SECRET });
      await new SecretsManagerClient(this.#run.stack.operator).send(rotate);
      this.#run.partner.secret = SECOND_SECRET;
    }
  }

  #outage(fault: Fault): void {
    setTimeout(this.#run.faults.inject(fault), OUTAGE);
  }
}

/** The order of posting. A repeated body comes again later, with other posts in between. */
function inPostingOrder(plan: readonly PlannedBody[]): PlannedBody[] {
  const [first = [], ...later] = [1, 2, 3].map((round) => plan.filter(({ posts }) => posts >= round));
  const line = [...first];
  for (const [index, body] of later.flat().entries()) {
    line.splice(Math.floor(((index * 7919) % line.length) / 2) + Math.floor(line.length / 2), 0, body);
  }
  return line;
}

/** Log messages about failures before anything was sent. A later attempt is then no repetition. */
const NOTHING_SENT = /^(EffectInProgressError|\w*Throttl\w*|ProvisionedThroughputExceededException)$/;

/** Log messages that {@link SoakLog} reads. */
const READ = [PROCESSED, DUPLICATE, FAILED, POSSIBLY_REPEATED];

/** Collects events whose people may be notified twice, from the log lines of consumers. */
class SoakLog {
  /** Ids of events for which a consumer logged that it may notify twice. */
  readonly possiblyRepeated = new Set<string>();
  /** Ids of events that had their effect. */
  readonly settled = new Set<string>();
  /** Attempts that logged their effect. If such an attempt fails, writing to the archive has failed. */
  readonly #effective = new Set<string>();

  read(text: string): void {
    if (!READ.some((message) => text.includes(`"message":"${message}"`))) return;
    const { message, eventId, messageId, attempt, error = '' } = JSON.parse(text) as Record<string, string>;
    const attempted = `${messageId} ${attempt}`;
    if (message === PROCESSED || message === DUPLICATE) {
      this.#effective.add(attempted);
      if (eventId) this.settled.add(eventId);
    }
    const open =
      message === POSSIBLY_REPEATED ||
      (message === FAILED && !NOTHING_SENT.test(error) && !this.#effective.has(attempted));
    if (eventId && open) this.possiblyRepeated.add(eventId);
  }
}

async function quiet(
  stack: LocalStack,
  queues: Queues,
  onProgress: (progress: ProgressStep) => void,
): Promise<void> {
  const deadline = Date.now() + QUIET_LIMIT;
  let most = 0;
  for (let still = 0; still < 2; ) {
    const counts = await Promise.all(eventQueues(stack).map((url) => queues.count(url)));
    const left = counts.reduce((sum, count) => sum + count, 0);
    still = left === 0 ? still + 1 : 0;
    if (Date.now() > deadline)
      throw new Error(`Not quiet after ${QUIET_LIMIT / 1000} s: ${left} messages left`);
    most = Math.max(most, left);
    onProgress({ doing: 'Waiting for quiet', done: most - left, total: most });
    await sleep(500);
  }
}

const eventQueues = ({ outputs }: LocalStack) =>
  Object.entries(outputs).flatMap(([name, url]) =>
    /(?<!DeadLetter)QueueUrl$/.test(name) && !/^(Quarantine|Unrouted)/.test(name) ? [url] : [],
  );
