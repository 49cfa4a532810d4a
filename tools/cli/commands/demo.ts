import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { type AttributeValue, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import * as z from 'zod/mini';
import { readSamples } from '../../../events/samples.ts';
import { LOCAL_SECRET } from '../../../events/signing.ts';
import type { LocalStack } from '../../../local/local-stack.ts';
import { KeptAssemblies } from '../../dev/start/kept-assembly.ts';
import { SYNTHESISED_FOLDER, Workspace } from '../../stage/local-folder.ts';
import { postSigned } from '../../stage/signed-post.ts';
import { npmScript } from '../terminal/command.ts';
import { table } from '../terminal/layout.ts';
import { jsonOption } from '../terminal/options.ts';
import { screenWidth } from '../terminal/terminal.ts';

/** Timeout of an effect. */
const EFFECT_LIMIT_MILLISECONDS = 10_000;

/** The shown fields of a notification for programs. */
const notification = z.object({ title: z.string(), data: z.record(z.string(), z.string()) });

interface Row {
  readonly event: string;
  readonly answer: string;
  /** Null if there was none in time. */
  readonly effect: string | null;
}

/**
 * Starts the stack, sends one signed sample of every event, and shows the results. An effect is an item whose version
 * ends with the event's id, or a notification that contains it, so a new event needs no change here.
 */
export const command = npmScript(
  'demo',
  'Starts a separate local stack, sends a sample of every event, and shows the effect of each.',
)
  .addOption(jsonOption())
  .action(async ({ json }) => {
    const { startLocalStack } = await import('../../../local/local-stack.ts');
    const { synthesise } = await import('../../../local/template/synthesise.ts');
    const say = json ? console.error : console.log;
    await using workspace = await Workspace.open();
    say('Synthesising the stack …');
    await new KeptAssemblies({ folder: SYNTHESISED_FOLDER, synthesise }).write(workspace.assembly);
    const stack = await startLocalStack({
      assembly: workspace.assembly,
      port: 0,
      awsPort: 0,
      secret: LOCAL_SECRET,
      onStep: (step) => say(`${step} …`),
      onProblem: (message) => console.error(`Problem: ${message}`),
    });
    try {
      const rows = await sendSamples(stack);
      if (json) console.log(JSON.stringify(rows, undefined, 2));
      else console.log(`\n${describe(rows).join('\n')}`);
      if (rows.some(({ effect }) => effect === null)) process.exitCode = 1;
    } finally {
      await stack.close();
    }
  });

async function sendSamples(stack: LocalStack): Promise<Row[]> {
  const effects = await EffectWatcher.start(stack);
  const rows: Row[] = [];
  for (const { event, payload } of readSamples()) {
    const { status, body } = await postSigned({
      url: stack.outputs.WebhookUrl ?? '',
      body: Buffer.from(JSON.stringify(payload)),
      secret: LOCAL_SECRET,
    });
    const answer = Object(body) as { status?: string; eventId?: string };
    const effect = answer.eventId === undefined ? undefined : await effects.of(answer.eventId);
    rows.push({ event, answer: `${status} ${answer.status ?? ''}`, effect: effect ?? null });
  }
  return rows;
}

function describe(rows: readonly Row[]): string[] {
  return table(
    [{ heading: 'EVENT' }, { heading: 'ANSWER' }, { heading: 'EFFECT' }],
    rows.map(({ event, answer, effect }) => [event, answer, effect ?? styleText('red', 'MISSING')]),
    screenWidth(),
  );
}

class EffectWatcher {
  readonly #dynamodb: DynamoDBClient;
  readonly #sqs: SQSClient;
  /** Physical names by the names of the outputs. */
  readonly #tables: ReadonlyMap<string, string>;
  readonly #queueUrl: string;
  readonly #notifications = new Map<string, string>();

  /** Subscribes to every topic, so that no later notification is missed. */
  static async start({ outputs, operator }: LocalStack): Promise<EffectWatcher> {
    const sqs = new SQSClient(operator);
    const sns = new SNSClient(operator);
    const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'demo-notifications' }));
    const { Attributes } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
    );
    for (const TopicArn of named(outputs, /TopicArn$/).values()) {
      await sns.send(
        new SubscribeCommand({
          TopicArn,
          Protocol: 'sqs',
          Endpoint: Attributes?.QueueArn,
          Attributes: { RawMessageDelivery: 'true' },
        }),
      );
    }
    sns.destroy();
    return new EffectWatcher(new DynamoDBClient(operator), sqs, named(outputs, /Table$/), QueueUrl);
  }

  constructor(
    dynamodb: DynamoDBClient,
    sqs: SQSClient,
    tables: ReadonlyMap<string, string>,
    queueUrl: string,
  ) {
    this.#dynamodb = dynamodb;
    this.#sqs = sqs;
    this.#tables = tables;
    this.#queueUrl = queueUrl;
  }

  /** @returns undefined if the event had no effect in time */
  async of(eventId: string): Promise<string | undefined> {
    const deadline = Date.now() + EFFECT_LIMIT_MILLISECONDS;
    while (Date.now() < deadline) {
      const effect = (await this.#itemOf(eventId)) ?? (await this.#notificationOf(eventId));
      if (effect !== undefined) return effect;
      await sleep(50);
    }
    return undefined;
  }

  async #itemOf(eventId: string): Promise<string | undefined> {
    for (const [table, TableName] of this.#tables) {
      const { Items = [] } = await this.#dynamodb.send(new ScanCommand({ TableName }));
      const item = Items.find(({ version }) => version?.S?.endsWith(`#${eventId}`));
      if (item) return `${table}: ${showItem(item)}`;
    }
    return undefined;
  }

  async #notificationOf(eventId: string): Promise<string | undefined> {
    const { Messages = [] } = await this.#sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: this.#queueUrl,
        MessageAttributeNames: ['All'],
        MaxNumberOfMessages: 10,
      }),
    );
    for (const { Body = '', MessageAttributes } of Messages) {
      this.#notifications.set(MessageAttributes?.eventId?.StringValue ?? '', showNotification(Body));
    }
    const text = this.#notifications.get(eventId);
    return text === undefined ? undefined : `notification: ${text}`;
  }
}

function named(outputs: Readonly<Record<string, string>>, name: RegExp): Map<string, string> {
  return new Map(Object.entries(outputs).filter(([key]) => name.test(key)));
}

/** @param body the notification for programs */
function showNotification(body: string): string {
  const { title, data } = notification.parse(JSON.parse(body));
  return [title, ...Object.entries(data).map(([name, value]) => `${name}=${value}`)].join(' ');
}

function showItem(item: Record<string, AttributeValue>): string {
  return Object.entries(item)
    .filter(([name]) => name !== 'data' && !name.endsWith('version'))
    .map(([name, value]) => `${name}=${value.S ?? value.N ?? JSON.stringify(value.L?.map(({ S }) => S))}`)
    .join(' ');
}
