import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type Message, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { catalogue, eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { type Fault, Faults } from '../../local/aws/faults.ts';
import { type LocalStack, startLocalStack } from '../../local/local-stack.ts';
import type { Step } from '../../tools/cli/terminal/block.ts';
import { essence, expectedState, type ReceivedDelivery } from '../support/oracle.ts';
import { Queues } from '../support/queues.ts';
import { type Row, Tables } from '../support/tables.ts';
import { type AcceptedBody, archiveDifferences } from './archive-oracle.ts';
import { PartnerSimulator } from './partner-simulator.ts';
import { type Kind, makePlan, type PlannedBody } from './plan.ts';
import { takeAll } from './take-all.ts';

export interface SoakOptions {
  /** Folder of the synthesised stack. */
  readonly assembly: string;
  /** Posts, repeats after 401 and 500 not counted. */
  readonly deliveries: number;
  readonly seed: number;
  /** @default none */
  readonly onProgress?: (progress: Step) => void;
}

export interface SoakReport {
  readonly seed: number;
  readonly posts: number;
  readonly bodies: Readonly<Record<Kind, number>>;
  readonly answers: Readonly<Record<string, number>>;
  /** Calls that a fault hit, by kind. */
  readonly faults: Readonly<Record<string, number>>;
  readonly kills: number;
  /** Failures that consumers logged and got over. */
  readonly retries: number;
  /** Notifications sent again because the note of the first could not be written. */
  readonly repeatedNotifications: number;
  /** Records of the archive: more than events, as what is repeated is settled again. */
  readonly archived: number;
  readonly seconds: number;
  /** Where the state is not what the oracle says. */
  readonly differences: readonly string[];
}

const SENDERS = 8;
const FIRST_SECRET = 'soak-secret-1';
const SECOND_SECRET = 'soak-secret-2';

/** Faults that last throughout: of a hundred calls, one to three fail in each way. */
const FAULTS: readonly Fault[] = [
  { service: 'sqs', kind: 'throttled', share: 0.01 },
  { service: 'sqs', kind: 'down', share: 0.01 },
  { service: 'sqs', operation: 'SendMessage', kind: 'response-lost', share: 0.01 },
  { service: 'sqs', operation: 'DeleteMessageBatch', kind: 'response-lost', share: 0.01 },
  { service: 'dynamodb', kind: 'throttled', share: 0.02 },
  { service: 'dynamodb', kind: 'down', share: 0.01 },
  { service: 'dynamodb', kind: 'response-lost', share: 0.01 },
  { service: 'dynamodb', kind: 'slow', milliseconds: 100, share: 0.01 },
  // A lost response of SNS is the window that no consumer can close: `docs/reliability.md`.
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

/** How long a service is down as a whole, in milliseconds. */
const OUTAGE = 3_000;

/** Times that the functions are killed, in the middle of what they do. */
const KILLS = 20;

/** Instead of the template's 180 s: the time after which what a killed function had in hand comes back. */
const VISIBILITY_SECONDS = 5;

/** How long the queues may take to become empty, in milliseconds. */
const QUIET_LIMIT = 10 * 60_000;

/** Functions that are killed. Killed between a notification and its note, a consumer would notify again. */
const KILLED = [
  'receiver',
  ...eventNames.filter((event) => !['chat', 'review'].includes(catalogue[event].effect)).map(kebabCase),
];

/**
 * Posts a plan at a stack that faults beset, waits for quiet, and compares everything that is there
 * with what must be there.
 */
export async function soak({
  assembly,
  deliveries,
  seed,
  onProgress = () => {},
}: SoakOptions): Promise<SoakReport> {
  const started = performance.now();
  const plan = makePlan({ deliveries, seed });
  const faults = new Faults(seed);
  const log = new SoakLog();
  const stack = await startLocalStack({
    assembly,
    port: 0,
    awsPort: 0,
    secret: FIRST_SECRET,
    faults,
    environment: { FIRST_RETRY_DELAY_SECONDS: '0.3' },
    onLog: ({ text }) => log.read(text),
  });
  try {
    const queues = new Queues(stack.operator);
    const rooms = await prepare(stack, queues);
    const partner = new PartnerSimulator(stack.outputs.WebhookUrl ?? '', FIRST_SECRET);
    const sender = new Sender(stack, partner, faults, plan);
    const progress = setInterval(() => onProgress(sender.progress()), 1_000);
    try {
      await sender.run();
    } finally {
      clearInterval(progress);
    }
    faults.clear();
    await quiet(stack, queues, onProgress);

    const bodies = countBy(plan, ({ kind }) => kind) as Record<Kind, number>;
    const notified = await takeAll(queues, rooms);
    const kept = await keptIds(stack, queues);
    const archive = await archiveDifferences(stack, sender.accepted, kept.hopeless);
    return {
      seed,
      posts: sender.posts,
      bodies,
      answers: partner.answers,
      faults: faults.counts,
      kills: sender.kills,
      retries: log.retries,
      repeatedNotifications: notified.length - new Set(notified.map(eventIdOf)).size,
      archived: archive.records,
      seconds: Math.round((performance.now() - started) / 1000),
      differences: [
        ...sender.unanswered,
        ...(await stateDifferences(stack, sender.stateDeliveries)),
        ...notificationDifferences(plan, notified, log),
        ...keptDifferences(kept, plan),
        ...archive.differences,
      ],
    };
  } finally {
    await stack.close();
  }
}

/** Shortens what takes long by design, and listens to both topics. @returns the listening queues */
async function prepare(stack: LocalStack, queues: Queues): Promise<string[]> {
  for (const QueueUrl of eventQueues(stack)) {
    await queues.client.send(
      new SetQueueAttributesCommand({
        QueueUrl,
        Attributes: { VisibilityTimeout: String(VISIBILITY_SECONDS) },
      }),
    );
  }
  return [
    await queues.subscribe(stack.outputs.ChatTopicArn, 'soak-chat'),
    await queues.subscribe(stack.outputs.ReviewTopicArn, 'soak-review'),
  ];
}

/** Posts the plan from several senders at once, rotates the secret half-way, and causes the faults. */
class Sender {
  posts = 0;
  kills = 0;
  /** Bodies that were not answered as they must be. */
  readonly unanswered: string[] = [];
  /** What the oracle is given. */
  readonly stateDeliveries: ReceivedDelivery[] = [];
  /** What was answered 200. */
  readonly accepted: AcceptedBody[] = [];
  readonly #stack: LocalStack;
  readonly #partner: PartnerSimulator;
  readonly #faults: Faults;
  readonly #line: PlannedBody[];
  readonly #total: number;

  constructor(stack: LocalStack, partner: PartnerSimulator, faults: Faults, plan: readonly PlannedBody[]) {
    this.#stack = stack;
    this.#partner = partner;
    this.#faults = faults;
    this.#line = inPostingOrder(plan);
    this.#total = this.#line.length;
  }

  progress(): Step {
    const answers = Object.entries(this.#partner.answers).map(([status, times]) => `${status}: ${times}`);
    const note = `${answers.join(', ')} · ${this.kills} kills`;
    return { doing: 'Posting', done: this.posts, total: this.#total, note };
  }

  async run(): Promise<void> {
    for (const fault of FAULTS) this.#faults.inject(fault);
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
    const status = await this.#partner.deliver(body, { forged: kind === 'forged' });
    const right = kind === 'forged' ? 401 : kind === 'malformed' ? 400 : 200;
    // What is forged may meet a 500 in its last repeat; it must only never be accepted.
    if (status !== right && !(kind === 'forged' && status !== 200 && status !== 400)) {
      this.unanswered.push(`${kind} answered ${status} at last: ${idOf(body)}`);
    }
    if (status === 200) this.accepted.push({ kind, body });
    if (kind === 'state') this.stateDeliveries.push({ body, receivedAt: new Date().toISOString() });
    if (kind === 'clock-ahead') await this.#correct(body);
  }

  /** After an event from a wrong clock comes one from a right clock: the record must not be frozen. */
  async #correct(ahead: string): Promise<void> {
    const timestamp = new Date(Date.now() + 1_000).toISOString();
    const body = JSON.stringify({ ...JSON.parse(ahead), timestamp });
    await this.#partner.deliver(body);
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
      await this.#stack.functions.get(name)?.function.kill();
    }
    if (part(1 / 2)) {
      await new SecretsManagerClient(this.#stack.operator).send(
        new PutSecretValueCommand({
          SecretId: this.#stack.outputs.WebhookSecretArn,
          SecretString: SECOND_SECRET,
        }),
      );
      this.#partner.secret = SECOND_SECRET;
    }
  }

  #outage(fault: Fault): void {
    setTimeout(this.#faults.inject(fault), OUTAGE);
  }
}

/** Repeated bodies are posted again later, with other posts between. */
function inPostingOrder(plan: readonly PlannedBody[]): PlannedBody[] {
  const rounds = [1, 2, 3].map((round) => plan.filter(({ posts }) => posts >= round));
  const [first = [], ...later] = rounds;
  const line = [...first];
  for (const [index, body] of later.flat().entries()) {
    line.splice(Math.floor(((index * 7919) % line.length) / 2) + Math.floor(line.length / 2), 0, body);
  }
  return line;
}

/** Failures before anything was sent: what follows them cannot be a repetition. */
const NOTHING_SENT =
  /^(IdempotencyAlreadyInProgressError|\w*Throttl\w*|ProvisionedThroughputExceededException)$/;

/** What the consumers' log lines tell. */
class SoakLog {
  retries = 0;
  /** Ids of events of which a consumer says that its notification may have been sent and not noted. */
  readonly unnoted = new Set<string>();
  /** Attempts whose effect has been told: what fails in them after it is the archive. */
  readonly #effective = new Set<string>();

  read(text: string): void {
    if (!/"(Processed|Duplicate|Failed|PossiblyRepeated)"/.test(text)) return;
    const { message, eventId, messageId, attempt, error = '' } = JSON.parse(text) as Record<string, string>;
    const attempted = `${messageId} ${attempt}`;
    if (message === 'Processed' || message === 'Duplicate') this.#effective.add(attempted);
    if (message === 'Failed') this.retries += 1;
    const open =
      message === 'PossiblyRepeated' ||
      (message === 'Failed' && !NOTHING_SENT.test(error) && !this.#effective.has(attempted));
    if (eventId && open) this.unnoted.add(eventId);
  }
}

async function quiet(stack: LocalStack, queues: Queues, onProgress: (progress: Step) => void): Promise<void> {
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

async function stateDifferences(
  stack: LocalStack,
  deliveries: readonly ReceivedDelivery[],
): Promise<string[]> {
  const tables = new Tables(stack.operator);
  const { shops, cast, contacts } = expectedState(deliveries);
  const { ShopCacheTable, CastTable, ContactPartnerTable } = stack.outputs;
  return [
    ...tableDifferences('shop cache', 'shop_id', await tables.scan(ShopCacheTable), shops),
    ...tableDifferences('cast', 'girl_id', await tables.scan(CastTable), cast),
    ...tableDifferences('contact_partner', 'user_id', await tables.scan(ContactPartnerTable), contacts),
  ];
}

function tableDifferences(
  table: string,
  key: string,
  rows: readonly Row[],
  expected: Map<string, Row>,
): string[] {
  const actual = new Map(rows.map((row) => [String(row[key]), canonical(row)]));
  const ids = new Set([...actual.keys(), ...expected.keys()]);
  return [...ids]
    .filter((id) => actual.get(id) !== canonical(expected.get(id)))
    .map((id) => `${table} ${id}: is ${actual.get(id)}, must be ${canonical(expected.get(id))}`);
}

/** A row as text, its columns in order; what is too large for a row is not kept of it. */
function canonical(row: Row | undefined): string | undefined {
  const { notes, data, ...columns } = essence(row) ?? {};
  if (row === undefined) return undefined;
  const kept = typeof data === 'string' && data.length < 256 * 1024 ? { data } : {};
  return JSON.stringify(Object.entries({ ...columns, ...kept }).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function notificationDifferences(
  plan: readonly PlannedBody[],
  notified: readonly Message[],
  log: SoakLog,
): string[] {
  const times = countBy(notified, eventIdOf);
  const expected = new Set(ofKind(plan, 'notification'));
  return [
    ...[...expected].filter((id) => !times[id]).map((id) => `notification ${id} was never sent`),
    ...Object.entries(times)
      .filter(([id, count]) => count > 1 && !log.unnoted.has(id))
      .map(([id, count]) => `notification ${id} was sent ${count} times`),
    ...Object.keys(times)
      .filter((id) => !expected.has(id))
      .map((id) => `notification ${id} was sent for no event`),
  ];
}

/** Kinds that are kept on a queue, and what the queue is. */
const PLACES = { hopeless: 'dead-letter queue', malformed: 'quarantine', unknown: 'unrouted queue' } as const;

type Kept = Readonly<Record<keyof typeof PLACES, ReadonlySet<string>>>;

/** Ids of the events that are kept on each queue, which are taken off it. */
async function keptIds(stack: LocalStack, queues: Queues): Promise<Kept> {
  const deadLetterQueues = Object.entries(stack.outputs).flatMap(([name, url]) =>
    name.endsWith('DeadLetterQueueUrl') ? [url] : [],
  );
  const idsOn = async (urls: readonly string[]) => new Set((await takeAll(queues, urls)).map(eventIdOf));
  return {
    hopeless: await idsOn(deadLetterQueues),
    malformed: await idsOn([stack.outputs.QuarantineQueueUrl ?? '']),
    unknown: await idsOn([stack.outputs.UnroutedQueueUrl ?? '']),
  };
}

/** What must be kept: hopeless events as dead letters, unusable ones in quarantine, unknown kinds unrouted. */
function keptDifferences(kept: Kept, plan: readonly PlannedBody[]): string[] {
  return (['hopeless', 'malformed', 'unknown'] as const).flatMap((kind) => {
    const expected = new Set(ofKind(plan, kind));
    return [
      ...[...expected.difference(kept[kind])].map(
        (id) => `${kind} event ${id} is not on the ${PLACES[kind]}`,
      ),
      ...[...kept[kind]]
        .filter((id) => !expected.has(id))
        .map((id) => `event ${id} is on the ${PLACES[kind]}`),
    ];
  });
}

const eventQueues = ({ outputs }: LocalStack) =>
  Object.entries(outputs).flatMap(([name, url]) =>
    /(?<!DeadLetter)QueueUrl$/.test(name) && !/^(Quarantine|Unrouted)/.test(name) ? [url] : [],
  );

const eventIdOf = ({ MessageAttributes }: Message) => MessageAttributes?.eventId?.StringValue ?? '';

const idOf = (body: string) => createHash('sha256').update(body).digest('hex');

const ofKind = (plan: readonly PlannedBody[], wanted: Kind) =>
  plan.filter(({ kind }) => kind === wanted).map(({ body }) => idOf(body));

function countBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1;
  return counts;
}
