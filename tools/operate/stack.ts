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
import { STSClient } from '@aws-sdk/client-sts';
import { CommandError } from '../terminal/command-error.ts';
import { readJson } from '../terminal/files.ts';
import { NOT_RUNNING, OUTPUTS_FILE } from './local-folder.ts';

/** A stack that runs somewhere: on this machine, or as a stage in AWS. */
export interface FoundStack {
  /** For people: `the local stack`, `stage prod in eu-west-1`. */
  readonly title: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly sqs: SQSClient;
  readonly dynamodb: DynamoDBClient;
  readonly s3: S3Client;
  readonly secrets: SecretsManagerClient;
  readonly logs: CloudWatchLogsClient;
  readonly cloudwatch: CloudWatchClient;
  readonly lambda: LambdaClient;
  readonly sts: STSClient;
  readonly firehose: FirehoseClient;
  /** Ends the clients' connections. */
  close(): void;
  /** Whether it is one that `npm start` runs. */
  readonly local: boolean;
  /**
   * How long a receive has to wait before "none" means none, in seconds. Without a wait SQS asks some of
   * its servers only; the local endpoint is one.
   */
  readonly waitSeconds: 0 | 1;
  /**
   * What to type for a further command on the same stack: `npm run dlq -- show shop.updated --stage prod`.
   * @param script @default 'dlq'
   */
  command(text: string, script?: string): string;
}

/** @throws CommandError where `npm start` does not run */
export function findLocalStack(): FoundStack {
  if (!existsSync(OUTPUTS_FILE)) throw new CommandError(NOT_RUNNING);
  return foundStack('the local stack', readOutputs(OUTPUTS_FILE), '');
}

/** The stack that `npm start` runs, if the address is that of its webhook. */
export function localStackAt(address: URL): FoundStack | undefined {
  if (!existsSync(OUTPUTS_FILE) || !isThisMachine(address)) return undefined;
  const stack = findLocalStack();
  if (URL.parse(stack.outputs.WebhookUrl ?? '')?.port === address.port) return stack;
  stack.close();
  return undefined;
}

/** Whether it is a loopback address, or a name that RFC 6761 §6.3 keeps for those. */
export function isThisMachine({ hostname }: URL): boolean {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(address) === 4) return address.startsWith('127.');
  return address === '::1' || address === 'localhost' || address.endsWith('.localhost');
}

/** The environment in which AWS' SDK uses the stack that `npm start` runs. */
export function localEnvironment(outputs: { readonly QuarantineQueueUrl: string }): Record<string, string> {
  return {
    AWS_ENDPOINT_URL: new URL(outputs.QuarantineQueueUrl).origin,
    AWS_REGION: LOCAL_REGION,
    AWS_ACCESS_KEY_ID: ANY_CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: ANY_CREDENTIALS.secretAccessKey,
  };
}

/**
 * The stack that a file describes which `cdk deploy --outputs-file` wrote, or the local stack.
 * @throws CommandError where the file does not describe one stack of this app
 */
export function findStackOfFile(file: string): FoundStack {
  return foundStack(`the stack of ${file}`, readOutputs(file), ` --outputs ${file}`);
}

/**
 * A deployed stage, from the outputs of its CloudFormation stack, with the usual AWS credentials and region.
 * @throws CommandError where the stage is not deployed
 */
export async function findStage(stage: string): Promise<FoundStack> {
  const client = new CloudFormationClient({});
  const StackName = `PartnerWebhooks-${stage}`;
  const region = await client.config.region();
  let stack: Stack | undefined;
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName }));
    stack = Stacks?.[0];
  } catch (error) {
    // CloudFormation has no error of its own for a stack that does not exist.
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
  return foundStack(`stage ${stage} in ${region}`, outputs, ` --stage ${stage}`);
}

const isOfThisApp = (outputs: Readonly<Record<string, string>>) =>
  URL.canParse(outputs.QuarantineQueueUrl ?? '');

function readOutputs(file: string): Record<string, string> {
  const stacks = readJson(file) as Record<string, Record<string, string>>;
  const outputs = Object.values(stacks).filter(isOfThisApp);
  if (outputs.length !== 1 || outputs[0] === undefined) {
    throw new CommandError(
      `${file} must hold the outputs of one stack of this app, not of ${outputs.length}`,
    );
  }
  return outputs[0];
}

/** A queue's address in AWS says its region. */
const AWS_HOST = /^sqs\.([a-z0-9-]+)\.(amazonaws\.com(\.cn)?|amazonaws\.eu)$/;

const LOCAL_REGION = 'us-east-1';

/** Queue addresses elsewhere are those of a local AWS endpoint, which takes any access key. */
const ANY_CREDENTIALS = { accessKeyId: 'operator', secretAccessKey: 'local' };

/** Whether the environment is set up for an endpoint elsewhere than in AWS: an emulator may know its access keys. */
const namesEndpoint = () => Boolean(process.env.AWS_ENDPOINT_URL && process.env.AWS_ACCESS_KEY_ID);

/** A stack of which the outputs are known already. */
export const stackOfOutputs = (title: string, outputs: Readonly<Record<string, string>>): FoundStack =>
  foundStack(title, outputs, '');

function foundStack(title: string, outputs: Readonly<Record<string, string>>, option: string): FoundStack {
  const { hostname, origin } = new URL(outputs.QuarantineQueueUrl ?? '');
  const region = AWS_HOST.exec(hostname)?.[1];
  const settings = region
    ? { region }
    : {
        region: LOCAL_REGION,
        endpoint: origin,
        ...(!namesEndpoint() && { credentials: ANY_CREDENTIALS }),
      };
  const clients = {
    sqs: new SQSClient(settings),
    dynamodb: new DynamoDBClient(settings),
    s3: new S3Client({ ...settings, forcePathStyle: region === undefined }),
    secrets: new SecretsManagerClient(settings),
    logs: new CloudWatchLogsClient(settings),
    cloudwatch: new CloudWatchClient(settings),
    lambda: new LambdaClient(settings),
    sts: new STSClient(settings),
    firehose: new FirehoseClient(settings),
  };
  return {
    title,
    outputs,
    ...clients,
    close() {
      for (const client of Object.values(clients)) client.destroy();
    },
    local: region === undefined,
    waitSeconds: region === undefined ? 0 : 1,
    command: (text, script = 'dlq') => `npm run ${script} -- ${text}${option}`,
  };
}
