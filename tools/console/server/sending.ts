import { request as httpRequest, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { readSamples, sampleBody } from '../../../events/samples.ts';
import type { EventName } from '../../../lambda/contract/catalogue.ts';
import { isOfProxy } from '../../../local/gateway/admitted-host.ts';
import type { Operation } from '../../stage/operation.ts';
import { answerText, parsedAnswer, postSigned } from '../../stage/signed-post.ts';
import { currentSecret } from '../../stage/webhook-secret.ts';
import { CommandError } from '../../terminal/command-error.ts';
import type { RecordedRequest } from '../api.ts';
import type { TaskResult } from './tasks.ts';

/** What belongs to one connection, and is not what the partner has sent. */
const OF_CONNECTION = new Set([
  'host',
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What this way over the network has of its own; a tunnel's headers would have it taken for one that comes through it. */
const isOfTheWay = (name: string) => OF_CONNECTION.has(name.toLowerCase()) || isOfProxy(name);

/** Ids of the request in answers of API Gateway itself: of an HTTP API, of a REST API. */
const ID_HEADERS = ['apigw-requestid', 'x-amz-apigw-id'];

/** The sample of an event, its timestamp now. */
export function bodyOfSample(event: EventName): Uint8Array {
  const sample = readSamples().find((candidate) => candidate.event === event);
  if (sample === undefined) throw new CommandError(`There is no sample of ${event} in events/`);
  return sampleBody(sample, new Date());
}

/** Signs a body with the stack's own secret, and posts it. */
export async function sendSigned({ stack, say, signal }: Operation, body: Uint8Array): Promise<TaskResult> {
  const secret = await currentSecret(stack);
  const answer = await postSigned({ url: stack.outputs.WebhookUrl ?? '', body, secret, signal });
  return told(say, answer.status, answer.body, undefined);
}

/** Sends a request once more as it came, with its headers and so its signature. */
export async function sendAgain(
  { stack, say, signal }: Operation,
  { method, path, headers }: RecordedRequest,
  body: Uint8Array,
): Promise<TaskResult> {
  const { origin, host } = new URL(stack.outputs.WebhookUrl ?? '');
  const own = headers.filter(([name]) => !isOfTheWay(name));
  const all = [['host', host], ...own, ['content-length', String(body.length)], ['connection', 'close']];
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const message = httpRequest(
      `${origin}${path}`,
      // As it was written, in order and case.
      { method, headers: all.flat(), signal },
      resolve,
    );
    message.on('error', reject).end(body);
  });
  const id = ID_HEADERS.map((name) => response.headers[name]).find((value) => typeof value === 'string');
  return told(say, response.statusCode ?? 0, (await buffer(response)).toString(), id as string | undefined);
}

/** @param header the id that API Gateway gives the request in a header of its answer */
function told(
  say: Operation['say'],
  status: number,
  body: string,
  header: string | undefined,
): { readonly delivery: string | undefined } {
  const answer = parsedAnswer(body);
  say(answerText({ status, body: answer }));
  const id = typeof answer === 'object' && answer !== null && 'requestId' in answer && answer.requestId;
  return { delivery: typeof id === 'string' ? id : header };
}
