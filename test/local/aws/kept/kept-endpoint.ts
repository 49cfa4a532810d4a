import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { FirehoseClient } from '@aws-sdk/client-firehose';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SNSClient } from '@aws-sdk/client-sns';
import { SQSClient } from '@aws-sdk/client-sqs';
import { type AwsEndpoint, startAwsEndpoint } from '../../../../local/aws/endpoint.ts';
import { openKeptState } from '../../../../local/aws/kept-state.ts';

/** Client settings without retries: a call without an acknowledgement is not repeated. */
export const settingsAt = (endpoint: string) => ({
  endpoint,
  region: 'eu-central-1',
  maxAttempts: 1,
  credentials: { accessKeyId: 'operator', secretAccessKey: 'any' },
});

export function clientsAt(endpoint: string) {
  const settings = settingsAt(endpoint);
  return {
    firehose: new FirehoseClient(settings),
    sqs: new SQSClient(settings),
    sns: new SNSClient(settings),
    s3: new S3Client({ ...settings, forcePathStyle: true }),
    dynamodb: new DynamoDBClient(settings),
    secrets: new SecretsManagerClient(settings),
  };
}

/** An AWS endpoint with its state in a folder. It can be stopped and started again. */
export class KeptEndpoint implements AsyncDisposable {
  readonly folder: string;
  problems: string[] = [];
  #running: { aws: AwsEndpoint; clients: ReturnType<typeof clientsAt>; stop(): Promise<void> } | undefined;

  static async start(): Promise<KeptEndpoint> {
    const endpoint = new KeptEndpoint(await mkdtemp(join(tmpdir(), 'partner-webhooks-kept-')));
    await endpoint.start();
    return endpoint;
  }

  /** @param folder deleted at the end */
  constructor(folder: string) {
    this.folder = folder;
  }

  get aws(): AwsEndpoint {
    if (this.#running === undefined) throw new Error('The endpoint does not run');
    return this.#running.aws;
  }

  get clients(): ReturnType<typeof clientsAt> {
    if (this.#running === undefined) throw new Error('The endpoint does not run');
    return this.#running.clients;
  }

  get settings(): ReturnType<typeof settingsAt> {
    return settingsAt(this.aws.url);
  }

  async start(): Promise<void> {
    this.problems = [];
    const onProblem = (problem: string) => this.problems.push(problem);
    const kept = await openKeptState(this.folder, onProblem);
    const aws = await startAwsEndpoint({ port: 0, region: 'eu-central-1', kept, onProblem });
    const stop = async () => {
      await aws.close();
      kept.close();
    };
    this.#running = { aws, clients: clientsAt(aws.url), stop };
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
    this.#running = undefined;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}
