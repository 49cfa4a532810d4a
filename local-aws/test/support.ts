import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AwsEndpoint, startAwsEndpoint } from '../aws/endpoint.ts';
import { objectsOf } from '../aws/json.ts';
import { arnOf } from '../aws/service-forms.ts';
import { awsCaller } from '../aws-caller.ts';

/** Call it in a hook or a test: if `-t` skips all tests of a file, Jest calls no `afterAll` to close the endpoint. */
export const startEndpoint = (options: Omit<Parameters<typeof startAwsEndpoint>[0], 'port'> = {}) =>
  startAwsEndpoint({ port: 0, ...options });

/** Access key of a role that {@link addRole} gives all permissions. */
export const ROLE = 'AKIAROLE';

export function addRole(endpoint: AwsEndpoint): void {
  const statements = [{ Effect: 'Allow' as const, Action: '*', Resource: '*' }];
  endpoint.addPrincipals([{ name: 'ConsumerRole', accessKeyId: ROLE, statements }]);
}

export interface RawRequest {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** Sends a request that no SDK would send, with the given header lines. */
export function send({ url }: AwsEndpoint, { method = 'POST', path = '/', headers = {}, body }: RawRequest) {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>(
    (resolve, reject) => {
      const { hostname, port } = new URL(url);
      const outgoing = request({ hostname, port, method, path, headers }, async (incoming) => {
        const chunks: Buffer[] = [];
        for await (const chunk of incoming) chunks.push(chunk);
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks) });
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    },
  );
}

/** An Authorization header with any signature, because the endpoint does not check it. */
export function signedFor(service: string, accessKeyId = 'operator', region = 'eu-west-1'): string {
  return `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260101/${region}/${service}/aws4_request, SignedHeaders=host;x-amz-date, Signature=${'0'.repeat(64)}`;
}

/** Subscribes a new queue to a topic. @returns a function that receives the bodies of messages since its last call */
export async function subscribe(endpoint: AwsEndpoint, TopicArn: string, QueueName: string) {
  const { json, form } = awsCaller(endpoint.url, 'operator');
  const { QueueUrl } = await json('sqs', 'CreateQueue', { QueueName });
  const raw = { 'Attributes.entry.1.key': 'RawMessageDelivery', 'Attributes.entry.1.value': 'true' };
  const Endpoint = arnOf('sqs', QueueName);
  await form('sns', { Action: 'Subscribe', TopicArn, Protocol: 'sqs', Endpoint, ...raw });
  return async (): Promise<string[]> => {
    const answer = await json('sqs', 'ReceiveMessage', { QueueUrl, MaxNumberOfMessages: 10 });
    return objectsOf(answer, 'Messages').map(({ Body }) => String(Body));
  };
}

/** Milliseconds. Far more than anything takes, for busy computers. */
const LIMIT_MS = 120_000;

/** Calls a function until it returns a value. @throws Error if it has not returned one in time */
export async function eventually<Answer>(ask: () => Promise<Answer | undefined>): Promise<Answer> {
  const start = Date.now();
  while (Date.now() < start + LIMIT_MS) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(25);
  }
  throw new Error(`No answer within ${LIMIT_MS} ms`);
}
