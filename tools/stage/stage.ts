import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { clientSettings as localClientSettings } from 'local-aws/aws-caller';
import { type EventName, eventNames } from '../../lambda/events/catalogue.ts';
import { pascalCase } from '../../lambda/events/event-names.ts';
import { CommandError } from '../terminal/command-error.ts';

/** All outputs of a stack, by name. */
export type Outputs = Readonly<Record<string, string>>;

/** A stage: the local stack, or one deployed to AWS. */
export class Stage {
  /** Name of the stage for people: `the local stack`, `stage prod in eu-west-1, account 123456789012`. */
  readonly title: string;
  readonly outputs: Outputs;
  /** Whether `npm start` runs it. */
  readonly local: boolean;
  /** The option that names the stage in a command: ` --stage prod`. Empty for the local stack. */
  readonly commandSuffix: string;
  readonly sqs: SQSClient;
  readonly dynamodb: DynamoDBClient;
  readonly s3: S3Client;
  readonly secrets: SecretsManagerClient;
  readonly logs: CloudWatchLogsClient;
  readonly cloudwatch: CloudWatchClient;
  readonly lambda: LambdaClient;
  /** Region and credentials of all clients. */
  private readonly clientSettings: ReturnType<typeof clientSettings>;
  private readonly clients = new Map<unknown, { destroy(): void }>();
  /** Milliseconds between two polls, for example of an event source. */
  readonly pollMilliseconds: number = 1_000;

  /**
   * @param option see `commandSuffix`
   * @param endpoint address of an AWS endpoint, which is used instead of AWS. @default AWS if it has the stage's queues
   */
  constructor(title: string, outputs: Outputs, option = '', endpoint = endpointOf(outputs)) {
    const region = regionOf(outputs);
    this.title = title;
    this.outputs = outputs;
    this.local = region === undefined;
    this.commandSuffix = option;
    this.clientSettings = clientSettings(region, endpoint);
    this.sqs = this.client(SQSClient);
    this.dynamodb = this.client(DynamoDBClient);
    this.s3 = this.client(S3Client);
    this.secrets = this.client(SecretsManagerClient);
    this.logs = this.client(CloudWatchLogsClient);
    this.cloudwatch = this.client(CloudWatchClient);
    this.lambda = this.client(LambdaClient);
  }

  /** The client of a service, made at its first use. A stage and those made from it share it. */
  client<Client extends { destroy(): void }>(
    Class: new (settings: ReturnType<typeof clientSettings>) => Client,
  ): Client {
    const client = (this.clients.get(Class) as Client) ?? new Class(this.clientSettings);
    this.clients.set(Class, client);
    return client;
  }

  /**
   * Wait time of a receive, in seconds, after which an empty answer means an empty queue. Without a wait, SQS asks only
   * some of its servers. The local endpoint is a single server.
   */
  get waitSeconds(): 0 | 1 {
    return this.local ? 0 : 1;
  }

  /**
   * Name of the stage's CloudFormation stack. The names of its resources begin with this name.
   * @throws CommandError if the name of a queue does not begin with it
   */
  get stackName(): string {
    const queue = this.output('QuarantineQueueUrl').split('/').at(-1) ?? '';
    const name = queue.slice(0, Math.max(0, queue.lastIndexOf('-Quarantine')));
    if (name !== '') return name;
    throw new CommandError(`The name of QuarantineQueueUrl, ${queue}, does not begin with the stack's`);
  }

  get webhookUrl(): string {
    return this.output('WebhookUrl');
  }

  get payloadBucket(): string {
    return this.output('PayloadBucket');
  }

  get receiverLogGroup(): string {
    return this.output('ReceiverLogGroup');
  }

  /** False if `archive.days` is 0. */
  get hasArchive(): boolean {
    return this.outputs.ArchiveBucket !== undefined;
  }

  /** @throws CommandError if the stage has no archive */
  get archiveBucket(): string {
    if (this.outputs.ArchiveBucket) return this.outputs.ArchiveBucket;
    throw new CommandError(
      `There is no archive in ${this.title}: its setting archive.days is 0, or it was deployed by a version without archives`,
    );
  }

  /** The events of the catalogue that this stage has. */
  get events(): EventName[] {
    return eventNames.filter((event) => this.outputs[`${pascalCase(event)}QueueUrl`] !== undefined);
  }

  /** A resource of an event. @throws MissingOutputError if the stage lacks it */
  ofEvent(
    event: EventName,
    what: `${'' | 'DeadLetter'}QueueUrl` | 'LogGroup' | 'ArchiveStream' | 'PausedAlarm' | 'WaitingAlarm',
  ): string {
    return this.output(`${pascalCase(event)}${what}`);
  }

  /** @throws MissingOutputError if the stage lacks the output */
  output(name: string): string {
    const value = this.outputs[name];
    if (value === undefined) throw new MissingOutputError(name, this.title);
    return value;
  }

  /**
   * A command line for this stage: `npx hookctl dlq show shop.updated --stage prod`.
   * @param script @default 'dlq'
   */
  command(text: string, script = 'dlq'): string {
    return `npx hookctl ${script} ${text}${this.commandSuffix}`;
  }

  /** The same stage with some properties replaced, such as clients or outputs. */
  with(values: Partial<Stage>): Stage {
    return Object.create(this, Object.getOwnPropertyDescriptors(values));
  }

  /** ARN of the person who runs the command. */
  async caller(): Promise<string> {
    const { Arn = 'unknown' } = await this.client(STSClient).send(new GetCallerIdentityCommand({}));
    return Arn;
  }

  close(): void {
    for (const client of this.clients.values()) client.destroy();
  }
}

/** The stage lacks an output: it was deployed by an earlier version, or is configured without the feature. */
export class MissingOutputError extends CommandError {
  constructor(output: string, title: string) {
    super(`The stack has no output ${output}: deploy ${title} again`);
  }
}

/** A queue address in AWS contains its region. */
const AWS_HOST = /^sqs\.([a-z0-9-]+)\.(amazonaws\.com(\.cn)?|amazonaws\.eu)$/;

export const regionOf = ({ QuarantineQueueUrl = '' }: Outputs) =>
  AWS_HOST.exec(new URL(QuarantineQueueUrl).hostname)?.[1];

/** @returns undefined for AWS */
export const endpointOf = (outputs: Outputs) =>
  regionOf(outputs) === undefined ? new URL(outputs.QuarantineQueueUrl ?? '').origin : undefined;

/** Whether the environment configures an endpoint outside AWS: an emulator may check its access keys. */
const namesEndpoint = () => Boolean(process.env.AWS_ENDPOINT_URL && process.env.AWS_ACCESS_KEY_ID);

/**
 * @param region of AWS; undefined for a local endpoint, which accepts any access key
 * @param endpoint undefined for AWS
 */
function clientSettings(region: string | undefined, endpoint = '') {
  if (region !== undefined) return { region, ...(endpoint !== '' && { endpoint }) };
  const { credentials, ...local } = localClientSettings(endpoint, 'operator');
  return { ...local, forcePathStyle: true, ...(!namesEndpoint() && { credentials }) };
}
