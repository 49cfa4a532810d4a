import { expect, test } from '@jest/globals';
import { withAccessLog } from '../../../local/gateway/deployed-api.ts';
import { httpApi } from '../../../local/gateway/http-api.ts';
import type { HttpRequest } from '../../../local/gateway/http-message.ts';
import { restApi } from '../../../local/gateway/rest-api.ts';
import type { Api } from '../../../local/gateway/server.ts';

const api = { apiId: 'a1b2c3d4e5', accountId: '000000000000', region: 'eu-central-1' };

const invoke = async () => ({ ok: true, payload: { statusCode: 200, body: 'queued' } }) as const;

const apis = {
  http: httpApi({ ...api, routes: [{ routeKey: 'POST /api/v1/hook', invoke }] }),
  rest: restApi({
    ...api,
    stage: 'api',
    methods: [{ httpMethod: 'POST', resourceId: 'nva6hs', resourcePath: '/v1/hook', invoke }],
    gatewayResponses: [],
  }),
};

const post = (path: string): HttpRequest => ({
  method: 'POST',
  path,
  query: '',
  httpVersion: '1.1',
  headers: [['x-amzn-requestid', 'chosen-by-the-client']],
  sourceIp: '127.0.0.1',
  port: 3000,
  receivedAt: new Date('2026-01-31T09:00:00Z'),
});

/** The lines that a request leaves, and its id. */
async function logged(path: string, format: string, of: Api) {
  const lines: string[] = [];
  const { requestId } = await withAccessLog(of, format, (line) => lines.push(line)).answer(
    post(path),
    async () => Buffer.alloc(0),
  );
  return { lines, requestId };
}

test('a line has what the format names of the request and its answer', async () => {
  const format =
    '$context.requestTime $context.identity.sourceIp $context.httpMethod $context.routeKey $context.status $context.responseLength';
  const { lines } = await logged('/api/v1/hook', format, apis.http);
  expect(lines).toEqual(['31/Jan/2026:09:00:00 +0000 127.0.0.1 POST POST /api/v1/hook 200 6']);
});

test.each<[keyof typeof apis, string]>([
  ['http', '$context.requestId'],
  ['rest', '$context.extendedRequestId'],
])('behind gateway %s the id that the answer has is %s', async (kind, format) => {
  const { lines, requestId } = await logged('/api/v1/hook', format, apis[kind]);
  expect(lines).toEqual([requestId]);
});

test.each<[string, keyof typeof apis, string, string[]]>([
  ['a request that no route matches', 'http', '/api/v1/other', ['404 - - -']],
  ['a request that no method matches', 'rest', '/api/v1/other', ['403 - - MISSING_AUTHENTICATION_TOKEN']],
  ['an answer of the function', 'rest', '/api/v1/hook', ['200 - /v1/hook -']],
  ['a request to another stage', 'rest', '/other', []],
])('of %s behind gateway %s to %s it has %j', async (_name, kind, path, lines) => {
  const format = '$context.status $context.routeKey $context.resourcePath $context.error.responseType';
  expect((await logged(path, format, apis[kind])).lines).toEqual(lines);
});
