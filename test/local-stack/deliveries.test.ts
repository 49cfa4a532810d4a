import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import {
  DeleteSecretCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { DeleteQueueCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { LOCAL_SECRET } from '../../events/signing.ts';
import type { LocalStack } from '../../local/local-stack.ts';
import type { GatewayKind } from '../../tools/cli/terminal/options.ts';
import { stageAssembly } from '../lib/stage-assembly.ts';
import { ArchiveBucket } from '../support/archive.ts';
import { eventually } from '../support/eventually.ts';
import { Partner, signBody } from '../support/partner.ts';
import { Queues } from '../support/queues.ts';
import { bodyOf, signingVectors } from '../support/signing-vectors.ts';
import { Tables } from '../support/tables.ts';
import {
  gatewayAssembly,
  gateways,
  scarceAssembly,
  startTestStack,
  TEST_SECRET,
} from '../support/test-stack.ts';

describe('what API Gateway answers by itself', () => {
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
});

describe('what the receiver cannot keep', () => {
  const shopUpdated = {
    event: 'shop.updated',
    data: { shop_id: 'shop-1' },
    timestamp: '2026-01-31T09:00:00Z',
  };

  const serverError = {
    status: 500,
    contentType: 'application/problem+json',
    body: {
      type: 'urn:partner-webhooks:problem:server-error',
      title: 'Server error',
      status: 500,
      detail: 'The event was not accepted. Send it again.',
      requestId: expect.any(String),
    },
  };

  const deleteQueue = (broken: LocalStack, output: string) =>
    new Queues(broken.operator).client.send(new DeleteQueueCommand({ QueueUrl: broken.outputs[output] }));

  /** In milliseconds: the first to ask for a gateway of the other kind has its stack synthesised. */
  const PATIENCE = 120_000;

  const situations: [string, (broken: LocalStack) => Promise<unknown>, unknown][] = [
    [
      'the secret cannot be read',
      (broken) =>
        new SecretsManagerClient(broken.operator).send(
          new DeleteSecretCommand({
            SecretId: broken.outputs.WebhookSecretArn,
            ForceDeleteWithoutRecovery: true,
          }),
        ),
      shopUpdated,
    ],
    [
      'the event’s queue does not take it',
      (broken) => deleteQueue(broken, 'ShopUpdatedQueueUrl'),
      shopUpdated,
    ],
    [
      'the unrouted queue does not take it',
      (broken) => deleteQueue(broken, 'UnroutedQueueUrl'),
      { ...shopUpdated, event: 'example.unknown' },
    ],
    ['an unusable event cannot be kept', (broken) => deleteQueue(broken, 'QuarantineQueueUrl'), 'unusable'],
  ];

  describe.each(gateways)('behind gateway %s', (gateway) => {
    test.each(situations)(
      '500 where %s, and nothing of the error is shown',
      async (_, breakIt, body) => {
        const broken = await startTestStack({
          assembly: await gatewayAssembly(gateway),
          onProblem: () => {},
        });
        try {
          await breakIt(broken);
          expect(await new Partner(broken.outputs.WebhookUrl).post(body)).toEqual(serverError);
        } finally {
          await broken.close();
        }
      },
      PATIENCE,
    );
  });
});

describe('the bytes that are signed', () => {
  /** In milliseconds: the first to ask for a gateway of the other kind has its stack synthesised. */
  const PATIENCE = 120_000;

  /** Neither UTF-8 nor JSON; said to be JSON. */
  const BYTES = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);

  let stack: LocalStack;

  describe('behind a REST API', () => {
    beforeAll(async () => {
      stack = await startTestStack({ assembly: await gatewayAssembly('rest') });
    }, PATIENCE);
    afterAll(() => stack?.close());

    test('even JSON that is not UTF-8 is what was signed, and is kept byte for byte', async () => {
      const { status, body } = await new Partner(stack.outputs.WebhookUrl).post(BYTES);
      const kept = await new Queues(stack.operator).take(
        stack.outputs.QuarantineQueueUrl,
        ({ MessageAttributes }) => MessageAttributes?.requestId?.StringValue === body.requestId,
      );
      expect({ status, kept: JSON.parse(kept.Body ?? '').bodyBase64 }).toEqual({
        status: 400,
        kept: BYTES.toString('base64'),
      });
    });
  });

  describe('behind an HTTP API', () => {
    /** Of one secret: a rotation in between would prove nothing more of the bytes. */
    const vectors = signingVectors.vectors.filter(({ secret }) => secret === LOCAL_SECRET);

    beforeAll(async () => {
      stack = await startTestStack({ secret: LOCAL_SECRET });
    });
    afterAll(() => stack?.close());

    test('JSON that is not UTF-8 is made text, and so is not what was signed', async () => {
      const notUtf8 = vectors.filter(({ utf8 }) => utf8 === false).map(bodyOf);
      expect(notUtf8.length).toBeGreaterThan(0);
      for (const body of [BYTES, ...notUtf8]) {
        const { status } = await new Partner(stack.outputs.WebhookUrl).post(body, { secret: LOCAL_SECRET });
        expect(status).toBe(401);
      }
    });

    test('the vectors are accepted in every spelling, and refused with every mistake', async () => {
      const partner = new Partner(stack.outputs.WebhookUrl);
      const verdicts = vectors.flatMap((vector) => {
        const body = bodyOf(vector);
        // An HTTP API hands over the bytes of what is not text.
        const headers = {
          'content-type': vector.utf8 === false ? 'application/octet-stream' : 'application/json',
        };
        return (['accepted', 'refused'] as const).flatMap((expected) =>
          Object.entries(vector[expected]).map(async ([kind, signature]) => {
            const { status } = await partner.post(body, { signature, headers });
            return { vector: vector.name, kind, status, expected };
          }),
        );
      });
      // What is signed is accepted as a delivery whether or not it is an event: with 400 it is kept, too.
      const statuses = { accepted: [200, 400], refused: [401] };
      const wrong = (await Promise.all(verdicts)).filter(
        ({ status, expected }) => !statuses[expected].includes(status),
      );
      expect(wrong).toEqual([]);
    });
  });
});

describe('a rotation of the secret', () => {
  /** Senders that post all the time; more than one receiver answers them. */
  const SENDERS = 4;

  /** Deliveries before the rotation, and as many after it. */
  const DELIVERIES = 100;

  let stack: LocalStack;
  beforeAll(async () => {
    stack = await startTestStack();
  });
  afterAll(() => stack.close());

  test('a rotation under load: no good delivery is answered 401, signed with the old secret or the new', async () => {
    const partner = new Partner(stack.outputs.WebhookUrl);
    const answers = new Map<number, number>();
    let posted = 0;
    let newest = TEST_SECRET;

    async function send(): Promise<void> {
      while (posted < 2 * DELIVERIES) {
        posted += 1;
        if (posted === DELIVERIES) {
          await new SecretsManagerClient(stack.operator).send(
            new PutSecretValueCommand({
              SecretId: stack.outputs.WebhookSecretArn,
              SecretString: 'the new secret',
            }),
          );
          newest = 'the new secret';
        }
        const body = {
          event: 'shop.updated',
          data: { shop_id: `shop-${posted}` },
          timestamp: '2026-01-31T09:00:00Z',
        };
        // Of the partner's own senders not all change at once.
        const secret = posted % 2 === 0 ? newest : TEST_SECRET;
        const { status } = await partner.post(body, { secret });
        answers.set(status, (answers.get(status) ?? 0) + 1);
      }
    }
    await Promise.all(Array.from({ length: SENDERS }, send));
    expect(Object.fromEntries(answers)).toEqual({ 200: posted });
  });
});

describe('a stage with a key of its own', () => {
  let stack: LocalStack;
  const problems: string[] = [];
  beforeAll(async () => {
    stack = await startTestStack({
      assembly: await stageAssembly('encrypted'),
      onProblem: (problem) => problems.push(problem),
    });
  });
  afterAll(() => stack.close());

  test('a stage with a key for everything runs here, and a delivery has its effect and is archived', async () => {
    const event = {
      event: 'shop.updated',
      data: { shop_id: 'shop-under-key' },
      timestamp: '2026-01-31T09:00:00Z',
    };
    const { status } = await new Partner(stack.outputs.WebhookUrl).post(event);
    expect(status).toBe(200);
    const tables = new Tables(stack.operator);
    const row = await eventually(() =>
      tables.get(stack.outputs.ShopCacheTable, { shop_id: event.data.shop_id }),
    );
    expect(row).toMatchObject({ shop_id: event.data.shop_id });
    const archive = new ArchiveBucket(stack.outputs.ArchiveBucket, stack.operator);
    const records = await eventually(async () => {
      const found = await archive.records();
      return found.length > 0 ? found : undefined;
    });
    expect(records).toMatchObject([{ event: 'shop.updated', outcome: 'Processed', attempt: 1 }]);
    expect(problems).toEqual([]);
  });
});
