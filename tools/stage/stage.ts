import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import {
  CloudFormationClient,
  CloudFormationServiceException,
  DescribeStacksCommand,
  type Stack,
} from '@aws-sdk/client-cloudformation';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { FirehoseClient } from '@aws-sdk/client-firehose';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { CONFIG_PREFIX_SEPARATOR, loadConfig } from '@smithy/core/config';
import { type EventName, eventNames } from '../../lambda/events/catalogue.ts';
import { pascalCase } from '../../lambda/events/event-names.ts';
import { CommandError } from '../terminal/command-error.ts';
import { readJson } from '../terminal/files.ts';
import { NOT_RUNNING, OUTPUTS_FILE } from './local-folder.ts';

/** A stage: the local stack, or one deployed to AWS. */
export class Stage {
  /** Name of the stage for people: `the local stack`, `stage prod in eu-west-1, account 123456789012`. */
  readonly title: string;
  /** All outputs of the stage's CloudFormation stack, by name. */
  readonly outputs: Readonly<Record<string, string>>;
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
  readonly sts: STSClient;
  readonly firehose: FirehoseClient;
  /** Region and credentials for clients of further services. */
  readonly clientSettings: ReturnType<typeof clientSettings>;
  private readonly clients: readonly { destroy(): void }[];
  /** Milliseconds between two polls, for example of an event source. */
  readonly pollMilliseconds: number = 1_000;

  /**
   * @param option see `commandSuffix`
   * @param endpoint address of an AWS endpoint, which is used instead of AWS. @default AWS if it has the stage's queues
   */
  constructor(
    title: string,
    outputs: Readonly<Record<string, string>>,
    option = '',
    endpoint = endpointOf(outputs),
  ) {
    const region = regionOf(outputs);
    this.title = title;
    this.outputs = outputs;
    this.local = region === undefined;
    this.commandSuffix = option;
    const settings = clientSettings(region, endpoint);
    this.clientSettings = settings;
    this.sqs = new SQSClient(settings);
    this.dynamodb = new DynamoDBClient(settings);
    this.s3 = new S3Client({ ...settings, forcePathStyle: this.local });
    this.secrets = new SecretsManagerClient(settings);
    this.logs = new CloudWatchLogsClient(settings);
    this.cloudwatch = new CloudWatchClient(settings);
    this.lambda = new LambdaClient(settings);
    this.sts = new STSClient(settings);
    this.firehose = new FirehoseClient(settings);
    const { sqs, dynamodb, s3, secrets, logs, cloudwatch, lambda, sts, firehose } = this;
    this.clients = [sqs, dynamodb, s3, secrets, logs, cloudwatch, lambda, sts, firehose];
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

  /** The resources of an event. A property throws {@link MissingOutputError} if the stage lacks it. */
  event(event: EventName) {
    const output = (suffix: string) => this.output(`${pascalCase(event)}${suffix}`);
    return {
      get queueUrl() {
        return output('QueueUrl');
      },
      get deadLetterQueueUrl() {
        return output('DeadLetterQueueUrl');
      },
      get logGroup() {
        return output('LogGroup');
      },
      get archiveStream() {
        return output('ArchiveStream');
      },
      get pausedAlarm() {
        return output('PausedAlarm');
      },
      get waitingAlarm() {
        return output('WaitingAlarm');
      },
    };
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
    const { Arn = 'unknown' } = await this.sts.send(new GetCallerIdentityCommand({}));
    return Arn;
  }

  close(): void {
    for (const client of this.clients) client.destroy();
  }
}

/** The stage lacks an output: it was deployed by an earlier version, or is configured without the feature. */
export class MissingOutputError extends CommandError {
  constructor(output: string, title: string) {
    super(`The stack has no output ${output}: deploy ${title} again`);
  }
}

/** @throws CommandError if `npm start` does not run */
export function findLocalStack(): Stage {
  if (!existsSync(OUTPUTS_FILE)) throw new CommandError(NOT_RUNNING);
  return new Stage('the local stack', readOutputs(OUTPUTS_FILE));
}

/** The stack that `npm start` runs, if the given address is that of its webhook. */
function localStackAt(address: URL): Stage | undefined {
  if (!existsSync(OUTPUTS_FILE) || !isThisMachine(address)) return undefined;
  const stack = findLocalStack();
  if (URL.parse(stack.outputs.WebhookUrl ?? '')?.port === address.port) return stack;
  stack.close();
  return undefined;
}

/** The local stack, if the address is that of its webhook. Otherwise a stage with only a webhook. */
export function stageAt(address: URL): Stage {
  const local = localStackAt(address);
  const outputs = { ...local?.outputs, WebhookUrl: address.href };
  // A stage with only a webhook has no known queues. For an address outside AWS, the title does not name a region.
  return (
    local?.with({ outputs }) ??
    new Stage(`the receiver at ${address.host}`, { ...outputs, QuarantineQueueUrl: address.href })
  );
}

/** Whether an address is on this machine: a loopback address, or a name that RFC 6761 §6.3 reserves for loopback. */
function isThisMachine({ hostname }: URL): boolean {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(address) === 4) return address.startsWith('127.');
  return address === '::1' || address === 'localhost' || address.endsWith('.localhost');
}

/** Environment variables that make the AWS SDK use the stack that `npm start` runs. */
export function localEnvironment(outputs: { readonly QuarantineQueueUrl: string }): Record<string, string> {
  return {
    AWS_ENDPOINT_URL: new URL(outputs.QuarantineQueueUrl).origin,
    AWS_REGION: LOCAL_REGION,
    AWS_ACCESS_KEY_ID: ANY_CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: ANY_CREDENTIALS.secretAccessKey,
  };
}

/**
 * The stack described by a file of `cdk deploy --outputs-file`, or the local stack.
 * @throws CommandError if the file does not describe exactly one stack of this app
 */
export function findStackOfFile(file: string, endpoint?: string): Stage {
  const outputs = readOutputs(file);
  const title = `the stack of ${file} ${placeOf(outputs, endpoint)}`;
  return new Stage(title, outputs, ` --outputs ${file}${endpointWords(endpoint)}`, endpoint);
}

/**
 * A deployed stage, from the outputs of its CloudFormation stack, with the usual AWS credentials and region.
 * @throws CommandError if the stage is not deployed
 */
export async function findStage(stage: string, endpoint?: string): Promise<Stage> {
  const client = new CloudFormationClient(endpoint === undefined ? {} : { endpoint });
  const StackName = `PartnerWebhooks-${stage}`;
  const region = await configuredRegion(client);
  let stack: Stack | undefined;
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName }));
    stack = Stacks?.[0];
  } catch (error) {
    // CloudFormation has no specific error for a stack that does not exist.
    if (!(error instanceof CloudFormationServiceException) || error.name !== 'ValidationError') throw error;
  } finally {
    client.destroy();
  }
  const outputs = Object.fromEntries(
    (stack?.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]),
  );
  if (!isOfThisApp(outputs)) {
    const found = stack ? `stack ${StackName} is ${stack.StackStatus}` : `there is no stack ${StackName}`;
    throw new CommandError(`Stage '${stage}' is not deployed in ${region}: ${found}`);
  }
  const title = `stage ${stage} ${placeOf(outputs, endpoint)}`;
  return new Stage(title, outputs, ` --stage ${stage}${endpointWords(endpoint)}`, endpoint);
}

const endpointWords = (endpoint?: string) => (endpoint === undefined ? '' : ` --endpoint ${endpoint}`);

type Outputs = Readonly<Record<string, string>>;

/** What a command on a stage changes: `in eu-west-1, account 123456789012`, or `at http://localhost:4566`. */
function placeOf(outputs: Outputs, endpoint = endpointOf(outputs)): string {
  const [, account] = new URL(outputs.QuarantineQueueUrl ?? '').pathname.split('/');
  return endpoint === undefined ? `in ${regionOf(outputs)}, account ${account}` : `at ${endpoint}`;
}

const regionOf = ({ QuarantineQueueUrl = '' }: Outputs) =>
  AWS_HOST.exec(new URL(QuarantineQueueUrl).hostname)?.[1];

/** @returns undefined for AWS */
const endpointOf = (outputs: Outputs) =>
  regionOf(outputs) === undefined ? new URL(outputs.QuarantineQueueUrl ?? '').origin : undefined;

/**
 * The setting that sends calls of the AWS SDK to another endpoint than AWS. Source: AWS SDKs and tools reference guide,
 * "Service-specific endpoints".
 * @returns such as `AWS_ENDPOINT_URL=http://localhost:4566`; undefined if there is none
 */
export async function redirection(): Promise<string | undefined> {
  if (process.env.AWS_IGNORE_CONFIGURED_ENDPOINT_URLS === 'true') return undefined;
  const load = loadConfig<string | undefined>({
    environmentVariableSelector: (env) => {
      const name = Object.keys(env).find((key) => /^AWS_ENDPOINT_URL(_|$)/.test(key) && env[key]);
      return name && `${name}=${env[name]}`;
    },
    configFileSelector: ({ endpoint_url, services }, config) => {
      const ofServices = Object.entries(config?.[`services${CONFIG_PREFIX_SEPARATOR}${services}`] ?? {});
      const [, url = endpoint_url] = ofServices.find(([name]) => name.endsWith('endpoint_url')) ?? [];
      return url && `endpoint_url = ${url} in the AWS profile`;
    },
    default: undefined,
  });
  return await load();
}

/** @throws CommandError that names everything missing: the region, the credentials */
async function configuredRegion({ config }: CloudFormationClient): Promise<string> {
  const [region, credentials] = await Promise.allSettled([config.region(), config.credentials()]);
  const why = credentials.status === 'rejected' && String(credentials.reason.message).split('\n')[0];
  const missing = [
    ...(region.status === 'rejected'
      ? ['a region (set AWS_REGION, or AWS_PROFILE to a profile that has one)']
      : []),
    ...(why ? [`credentials (${why})`] : []),
  ];
  if (region.status === 'fulfilled' && missing.length === 0) return region.value;
  throw new CommandError(`AWS needs ${missing.join(' and ')}`);
}

const isOfThisApp = (outputs: Readonly<Record<string, string>>) =>
  URL.canParse(outputs.QuarantineQueueUrl ?? '');

function readOutputs(file: string): Record<string, string> {
  const stacks = readJson(file) as Record<string, Record<string, string>>;
  const outputs = Object.values(stacks).filter(isOfThisApp);
  if (outputs.length !== 1 || outputs[0] === undefined) {
    throw new CommandError(
      `${file} must have the outputs of one stack of this app, not of ${outputs.length}`,
    );
  }
  return outputs[0];
}

/** A queue address in AWS contains its region. */
const AWS_HOST = /^sqs\.([a-z0-9-]+)\.(amazonaws\.com(\.cn)?|amazonaws\.eu)$/;

const LOCAL_REGION = 'us-east-1';

/** Other queue addresses belong to a local AWS endpoint, which accepts any access key. */
const ANY_CREDENTIALS = { accessKeyId: 'operator', secretAccessKey: 'local' };

/** Whether the environment configures an endpoint outside AWS: an emulator may check its access keys. */
const namesEndpoint = () => Boolean(process.env.AWS_ENDPOINT_URL && process.env.AWS_ACCESS_KEY_ID);

/**
 * @param region of AWS; undefined for a local endpoint
 * @param endpoint undefined for AWS
 */
function clientSettings(region: string | undefined, endpoint: string | undefined) {
  if (region !== undefined) return { region, ...(endpoint !== undefined && { endpoint }) };
  return {
    region: LOCAL_REGION,
    ...(endpoint !== undefined && { endpoint }),
    ...(!namesEndpoint() && { credentials: ANY_CREDENTIALS }),
  };
}
