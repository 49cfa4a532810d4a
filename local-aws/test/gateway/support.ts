import type { Api } from '../../gateway/api.ts';
import { type HttpRequest, type HttpResponse, pairs, splitTarget } from '../../gateway/http-message.ts';

export const MEBIBYTE = 1024 * 1024;

export const apiId = 'a1b2c3d4e5';

/** A request in the form in which the gateway passes it to an API. */
export const received = (
  target: string,
  rawHeaders: readonly string[] = [],
  method = 'POST',
): HttpRequest => ({
  method,
  ...splitTarget(target),
  httpVersion: '1.1',
  headers: pairs(rawHeaders),
  sourceIp: '127.0.0.1',
  port: 3000,
  receivedAt: new Date('2020-03-02T19:03:58.390Z'),
});

/**
 * Asks an API without HTTP.
 * @param target method and path. @param body undefined if it is too large
 */
export async function ask(
  api: Api,
  target: string,
  { body = Buffer.alloc(0), headers = [] }: { body?: Buffer | undefined; headers?: readonly string[] } = {},
  isTooLarge = false,
) {
  const [method, path = ''] = target.split(' ');
  const readBody = async () => (isTooLarge ? undefined : body);
  const { response, ...rest } = await api.answer(received(path, headers, method), readBody);
  return { ...rest, status: response.status, headers: response.headers, text: response.body.toString() };
}

export const withText = (response: HttpResponse | undefined) =>
  response && { ...response, body: response.body.toString() };

/** Results of a handler that neither payload format accepts. */
export const MALFORMED: readonly unknown[] = [
  { statusCode: '200' },
  { statusCode: 200.5 },
  { statusCode: 200, body: { queued: true } },
  { statusCode: 200, isBase64Encoded: 'no' },
  { statusCode: 200, headers: ['a'] },
  { statusCode: 200, headers: { a: '1\r\nb: 2' } },
  { statusCode: 200, headers: { 'a b': '1' } },
];
