import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, ListTablesCommand, paginateScan } from '@aws-sdk/client-dynamodb';
import { GetQueueAttributesCommand, ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { LOCAL_SECRET } from '../../../events/signing.ts';
import { catalogue, type EventName, eventNames, isNotification } from '../../../lambda/events/catalogue.ts';
import { clientSettings } from '../../../local/client-settings.ts';
import { exactly, type Figure, type Measured, type MeasureOptions, spread } from './figure.ts';
import { cleanEnvironment, RunningStack } from './npm-start.ts';
import type { Posted, Posting } from './post-bodies.ts';

const CONNECTIONS = 20;
const WARM_UP_MILLISECONDS = 4_000;
const MILLISECONDS = 8_000;

/** Bodies that are signed ahead: enough for 2,500 a second. */
const BODIES = 30_000;

/** Milliseconds that effects may take after the last delivery. */
const DRAIN_LIMIT = 120_000;

interface Run {
  readonly receipts: Measured;
  readonly memory: Measured;
}

/** One run measures both figures. */
let run: Promise<Run> | undefined;

export const localThroughput: Figure = {
  name: 'local-throughput',
  title: `local stack: distinct signed bodies, ${CONNECTIONS} connections`,
  goal: { atLeast: 600 },
  unit: '/s',
  measure: async (options) => (await measured(options)).receipts,
};

export const localMemory: Figure = {
  name: 'local-memory',
  title: 'local stack: resident memory after that',
  goal: { atMost: 600 },
  unit: 'MB',
  measure: async (options) => (await measured(options)).memory,
};

function measured(options: MeasureOptions): Promise<Run> {
  run ??= measure(options);
  return run;
}

/**
 * Runs the stack as users do: with the console, and with its output read.
 * @throws Error if an accepted delivery was not processed
 */
async function measure({ signal, onProgress }: MeasureOptions): Promise<Run> {
  onProgress('starting the stack');
  await using stack = await RunningStack.start(signal, ['--no-watch']);
  onProgress('posting');
  const posted = await post(stack.webhookUrl, signal);
  const sent = performance.now();
  onProgress('waiting for effects');
  const queues = await Queues.of(stack.awsUrl);
  const waiting = await queues.left();
  await queues.drain(signal);
  const drained = (performance.now() - sent) / 1000;
  const megabytes = await stack.megabytes();
  await assertEffects(stack.awsUrl, posted);
  const accepted = total(posted.accepted);
  return {
    receipts: {
      ...spread(posted.rates),
      made: `${accepted} receipts, ${((accepted - waiting) / ((WARM_UP_MILLISECONDS + MILLISECONDS) / 1000)).toFixed(0)} effects/s meanwhile, the last ${waiting} in ${drained.toFixed(1)} s`,
    },
    memory: { ...exactly(megabytes), made: `all processes, after ${accepted} deliveries` },
  };
}

/** Posts from another process. @throws Error if an answer is not 200 */
export async function post(url: string, signal: AbortSignal): Promise<Posted> {
  const posting: Posting = {
    url,
    secret: LOCAL_SECRET,
    connections: CONNECTIONS,
    warmUpMilliseconds: WARM_UP_MILLISECONDS,
    milliseconds: MILLISECONDS,
    bodies: BODIES,
  };
  const child = spawn(process.execPath, ['tools/measure/bench/post-bodies.ts'], {
    env: cleanEnvironment(),
    stdio: ['pipe', 'pipe', 'inherit'],
    signal,
  });
  child.stdin.on('error', () => {}).end(JSON.stringify(posting));
  const said = text(child.stdout);
  const [code] = await once(child, 'exit').catch((error) => {
    signal.throwIfAborted();
    throw error;
  });
  if (code !== 0) throw new Error(`tools/measure/bench/post-bodies.ts ended with ${code}`);
  const posted = JSON.parse(await said) as Posted;
  if (total(posted.others) > 0) throw new Error(`Answers other than 200: ${JSON.stringify(posted.others)}`);
  return posted;
}

class Queues {
  readonly #client: SQSClient;
  readonly #urls: readonly string[];

  static async of(awsUrl: string): Promise<Queues> {
    const client = new SQSClient(clientSettings(awsUrl, 'operator'));
    const { QueueUrls = [] } = await client.send(new ListQueuesCommand({}));
    return new Queues(client, QueueUrls);
  }

  private constructor(client: SQSClient, urls: readonly string[]) {
    this.#client = client;
    this.#urls = urls;
  }

  /** Messages that are waiting or in flight. */
  async left(): Promise<number> {
    const counts = await Promise.all(
      this.#urls.map(async (QueueUrl) => {
        const { Attributes = {} } = await this.#client.send(
          new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }),
        );
        const { ApproximateNumberOfMessages, ApproximateNumberOfMessagesNotVisible } = Attributes;
        return Number(ApproximateNumberOfMessages) + Number(ApproximateNumberOfMessagesNotVisible);
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async drain(signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + DRAIN_LIMIT;
    for (let left = await this.left(); left > 0; left = await this.left()) {
      if (performance.now() > deadline) throw new Error(`${left} messages have had no effect`);
      await sleep(100, undefined, { signal });
    }
    this.#client.destroy();
  }
}

/** Each delivery leaves one item in its event's table. @throws Error if there are more or fewer */
async function assertEffects(awsUrl: string, { accepted }: Posted): Promise<void> {
  const client = new DynamoDBClient(clientSettings(awsUrl, 'operator'));
  const { TableNames = [] } = await client.send(new ListTablesCommand({}));
  for (const TableName of TableNames) {
    const tableOf = (event: EventName) => (isNotification(event) ? 'idempotency' : catalogue[event].effect);
    const wanted = eventNames
      .filter((event) => TableName.toLowerCase().includes(tableOf(event).replace('-', '')))
      .reduce((sum, event) => sum + (accepted[event] ?? 0), 0);
    let items = 0;
    for await (const { Count = 0 } of paginateScan({ client }, { TableName, Select: 'COUNT' }))
      items += Count;
    if (items !== wanted)
      throw new Error(`${TableName} has ${items} items, not one for each of ${wanted} deliveries`);
  }
  client.destroy();
}

const total = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);
