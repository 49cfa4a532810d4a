import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from '../../local/local-stack.ts';
import type { GatewayKind } from '../../tools/cli/terminal/options.ts';
import { signBody } from '../support/partner.ts';
import { scarceAssembly, startTestStack } from '../support/test-stack.ts';

/** In milliseconds: the stack is synthesised for each. */
const PATIENCE = 120_000;

/** Requests at once that the API's throttle admits; beyond these it admits one a second. */
const BURST = 10;

const delivery = JSON.stringify({
  event: 'shop.updated',
  data: { shop_id: 'shop-1' },
  timestamp: '2026-01-31T09:00:00Z',
});

async function post(url: string | undefined) {
  const headers = { 'content-type': 'application/json', 'x-webhook-signature': signBody(delivery) };
  const response = await fetch(url ?? '', { method: 'POST', headers, body: delivery });
  return {
    status: response.status,
    contentType: response.headers.get('content-type'),
    retryAfter: response.headers.get('retry-after'),
    body: await response.json(),
  };
}

const ownAnswer = (status: number, message: string) => ({
  status,
  contentType: 'application/json',
  retryAfter: null,
  body: { message },
});

/** As the receiver says it; the id is API Gateway's. */
const SERVER_ERROR = {
  status: 500,
  contentType: 'application/problem+json',
  retryAfter: '5',
  body: {
    type: 'urn:partner-webhooks:problem:server-error',
    title: 'Server error',
    status: 500,
    detail: 'The event was not accepted. Send it again.',
    requestId: expect.stringMatching(/^[\w+/]+=*$/),
  },
};

const cases: [GatewayKind, Record<'noConcurrency' | 'throttled', { status: number }>][] = [
  [
    'http',
    {
      noConcurrency: ownAnswer(503, 'Service Unavailable'),
      throttled: ownAnswer(429, 'Too Many Requests'),
    },
  ],
  ['rest', { noConcurrency: SERVER_ERROR, throttled: SERVER_ERROR }],
];

describe.each(cases)('behind gateway %s', (gateway, { noConcurrency, throttled }) => {
  let stack: LocalStack;
  beforeAll(async () => {
    const assembly = await scarceAssembly(gateway, 'scarce', {
      apiThrottle: { rate: 1, burst: BURST },
      receiver: { reservedConcurrency: 1 },
    });
    stack = await startTestStack({ assembly });
  }, PATIENCE);
  afterAll(() => stack?.close());

  const postAtOnce = (count: number) =>
    Promise.all(Array.from({ length: count }, () => post(stack.outputs.WebhookUrl)));

  test('what comes while all reserved concurrency is used is told so, and nothing else is', async () => {
    const answers = await postAtOnce(BURST);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(BURST);
    expect(refused).toEqual(refused.map(() => noConcurrency));
  });

  test('a request above the throttle is refused, and is in the access log', async () => {
    const answers = await postAtOnce(3 * BURST);
    const refused = answers.filter(({ status }) => status === throttled.status);
    expect(refused.length).toBeGreaterThan(BURST);
    expect(refused).toEqual(refused.map(() => throttled));
    const logs = new CloudWatchLogsClient(stack.operator);
    const { events = [] } = await logs.send(
      new FilterLogEventsCommand({
        logGroupName: stack.outputs.ApiAccessLogGroup,
        filterPattern: '{ $.status = "429" || $.responseType = "THROTTLED" }',
      }),
    );
    logs.destroy();
    expect(events).toHaveLength(refused.length);
  });
});
