import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SNSClient } from '@aws-sdk/client-sns';
import { SQSClient } from '@aws-sdk/client-sqs';

const PROGRAM = 'test/local/aws/kept/endpoint-process.ts';

/** Clients of an endpoint that call once: what is not acknowledged is not repeated. */
export function clientsAt(endpoint: string) {
  const settings = {
    endpoint,
    region: 'eu-central-1',
    maxAttempts: 1,
    credentials: { accessKeyId: 'operator', secretAccessKey: 'any' },
  };
  return {
    sqs: new SQSClient(settings),
    sns: new SNSClient(settings),
    s3: new S3Client({ ...settings, forcePathStyle: true }),
    dynamodb: new DynamoDBClient(settings),
  };
}

export type Clients = ReturnType<typeof clientsAt>;

/** An AWS endpoint in a process of its own, that can be killed and goes on with what it has kept. */
export class KeptEndpoint implements AsyncDisposable {
  readonly folder: string;
  #process: ChildProcess | undefined;
  #clients: Clients | undefined;

  static async start(): Promise<KeptEndpoint> {
    const endpoint = new KeptEndpoint(await mkdtemp(join(tmpdir(), 'partner-webhooks-kept-')));
    await endpoint.start();
    return endpoint;
  }

  private constructor(folder: string) {
    this.folder = folder;
  }

  get clients(): Clients {
    if (this.#clients === undefined) throw new Error('The endpoint does not run');
    return this.#clients;
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [PROGRAM, this.folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    this.#process = child;
    const [url] = await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'close').then(() => {
        throw new Error('The endpoint has ended');
      }),
    ]);
    this.#clients = clientsAt(String(url).trim());
  }

  /** Ends the process without a chance to write anything. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined) return;
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}
