import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import {
  DeleteSecretCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { DeleteQueueCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from 'local-aws';
import { LOCAL_SECRET } from '../../events/signing.ts';
import type { StageConfig } from '../../lib/config.ts';
import { stageAssembly } from '../lib/stage-assembly.ts';
import { ArchiveBucket } from '../support/archive.ts';
import { eventually } from '../support/eventually.ts';
import { Partner, signBody, TEST_SECRET } from '../support/partner.ts';
import { Queues } from '../support/queues.ts';
import { bodyOf, signingVectors } from '../support/signing-vectors.ts';
import { Tables } from '../support/tables.ts';
import { gatewayAssembly, scarceAssembly } from '../support/test-assembly.ts';
import { startTestStack } from '../support/test-stack.ts';

const shopUpdated = { event: 'shop.updated', data: { shop_id: 'shop-1' }, timestamp: '2026-01-31T09:00:00Z' };

/**
 * Runs a stack for one test.
 * @returns the result of `use`
 */
async function withStack<Result>(
  options: Parameters<typeof startTestStack>[0],
  use: (stack: LocalStack) => Promise<Result>,
): Promise<Result> {
  const stack = await startTestStack(options);
  try {
    return await use(stack);
  } finally {
    await stack.close();
  }
}

describe('what API Gateway answers itself', () => {
  /** Burst that the API's throttle allows. Beyond it, one request a second is allowed. */
  const BURST = 10;

  async function post(url: string | undefined) {
    const body = JSON.stringify(shopUpdated);
    const headers = { 'content-type': 'application/json', 'x-webhook-signature': signBody(body) };
    const response = await fetch(url ?? '', { method: 'POST', headers, body });
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

  /** An answer 500 in the receiver's format, with API Gateway's id. */
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

  const cases: { gateway: StageConfig['gateway']; noConcurrency: object; throttled: { status: number } }[] = [
    {
      gateway: 'http',
      noConcurrency: ownAnswer(503, 'Service Unavailable'),
      throttled: ownAnswer(429, 'Too Many Requests'),
    },
    { gateway: 'rest', noConcurrency: SERVER_ERROR, throttled: SERVER_ERROR },
  ];

  describe.each(cases)('behind gateway $gateway', ({ gateway, noConcurrency, throttled }) => {
    let stack: LocalStack;
    beforeAll(async () => {
      const assembly = await scarceAssembly(gateway, 'scarce', {
        apiThrottle: { rate: 1, burst: BURST },
        receiver: { reservedConcurrency: 1 },
      });
      stack = await startTestStack({ assembly });
    });
    afterAll(() => stack?.close());

    const postAtOnce = (count: number) =>
      Promise.all(Array.from({ length: count }, () => post(stack.outputs.WebhookUrl)));

    // Both parts are one test, because their requests are counted by the same throttle.
    test('a request is refused while all reserved concurrency is used, or above the throttle', async () => {
      const answers = await postAtOnce(BURST);
      const busy = answers.filter(({ status }) => status !== 200);
      expect(busy.length).toBeGreaterThan(0);
      expect(busy.length).toBeLessThan(BURST);
      expect(busy).toEqual(busy.map(() => noConcurrency));

      const more = await postAtOnce(3 * BURST);
      const refused = more.filter(({ status }) => status === throttled.status);
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
      expect(events.length).toBeGreaterThan(BURST);
      // The REST API answers a request that found no concurrency like one above its throttle.
      expect(events.length).toBeLessThanOrEqual(refused.length);
    });
  });
});

describe('500, and nothing of the error is shown,', () => {
  interface Situation {
    readonly given: string;
    readonly body: unknown;
    readonly breakIt: (stack: LocalStack) => Promise<unknown>;
  }

  const deleteSecret = ({ operator, outputs }: LocalStack) =>
    new SecretsManagerClient(operator).send(
      new DeleteSecretCommand({ SecretId: outputs.WebhookSecretArn, ForceDeleteWithoutRecovery: true }),
    );
  const deleteQueue =
    (output: string) =>
    ({ operator, outputs }: LocalStack) =>
      new Queues(operator).client.send(new DeleteQueueCommand({ QueueUrl: outputs[output] }));
  const http: Situation[] = [
    { given: 'the secret cannot be read', body: shopUpdated, breakIt: deleteSecret },
  ];
  const rest: Situation[] = [
    {
      given: 'the queue of the event does not take it',
      body: shopUpdated,
      breakIt: deleteQueue('ShopUpdatedQueueUrl'),
    },
    {
      given: 'the unrouted queue does not take it',
      body: { ...shopUpdated, event: 'example.unknown' },
      breakIt: deleteQueue('UnroutedQueueUrl'),
    },
    {
      given: 'an unusable event cannot be kept',
      body: 'unusable',
      breakIt: deleteQueue('QuarantineQueueUrl'),
    },
  ];

  describe.each<{ gateway: StageConfig['gateway']; situations: Situation[] }>([
    { gateway: 'http', situations: http },
    { gateway: 'rest', situations: rest },
  ])('behind gateway $gateway', ({ gateway, situations }) => {
    let stack: LocalStack;
    beforeAll(async () => {
      stack = await startTestStack({ assembly: await gatewayAssembly(gateway), onProblem: () => {} });
    });
    afterAll(() => stack?.close());

    test.each(situations)('if $given', async ({ body, breakIt }) => {
      await breakIt(stack);
      expect(await new Partner(stack.outputs.WebhookUrl).post(body)).toEqual({
        status: 500,
        contentType: 'application/problem+json',
        body: {
          type: 'urn:partner-webhooks:problem:server-error',
          title: 'Server error',
          status: 500,
          detail: 'The event was not accepted. Send it again.',
          requestId: expect.any(String),
        },
      });
    });
  });
});

describe('what is signed', () => {
  /** A body that is neither UTF-8 nor JSON, although the content type is JSON. */
  const BYTES = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);

  test('behind a REST API is every byte of a JSON body, and the bytes are stored', async () => {
    await withStack({ assembly: await gatewayAssembly('rest') }, async ({ outputs, operator }) => {
      const { status, body } = await new Partner(outputs.WebhookUrl).post(BYTES);
      const kept = await new Queues(operator).take(
        outputs.QuarantineQueueUrl,
        ({ MessageAttributes }) => MessageAttributes?.requestId?.StringValue === body.requestId,
      );
      expect(status).toBe(400);
      expect(JSON.parse(kept.Body ?? '').bodyBase64).toBe(BYTES.toString('base64'));
    });
  });

  describe('behind an HTTP API', () => {
    /** Only the vectors of one secret: rotations of the secret would prove nothing more about the bytes. */
    const vectors = signingVectors.vectors.filter(({ secret }) => secret === LOCAL_SECRET);
    let partner: Partner;
    let stack: LocalStack;
    beforeAll(async () => {
      stack = await startTestStack({ secret: LOCAL_SECRET });
      partner = new Partner(stack.outputs.WebhookUrl);
    });
    afterAll(() => stack?.close());

    test('is not a JSON body that is not UTF-8, because it arrives as text', async () => {
      const notUtf8 = vectors.filter(({ utf8 }) => utf8 === false).map(bodyOf);
      expect(notUtf8.length).toBeGreaterThan(0);
      for (const body of [BYTES, ...notUtf8]) {
        expect((await partner.post(body, { secret: LOCAL_SECRET })).status).toBe(401);
      }
    });

    test('is accepted in every spelling of the vectors, and refused with every mistake', async () => {
      const verdicts = vectors.flatMap((vector) => {
        const body = bodyOf(vector);
        // An HTTP API passes on bytes unchanged only if the content type is not text.
        const contentType = vector.utf8 === false ? 'application/octet-stream' : 'application/json';
        return (['accepted', 'refused'] as const).flatMap((expected) =>
          Object.entries(vector[expected]).map(async ([kind, signature]) => {
            const headers = { 'content-type': contentType };
            const { status } = await partner.post(body, { signature, headers });
            return { vector: vector.name, kind, status, expected };
          }),
        );
      });
      // A signed delivery is accepted even if it is not an event: with 400 it is stored, too.
      const statuses = { accepted: [200, 400], refused: [401] };
      const answered = await Promise.all(verdicts);
      expect(answered.filter(({ status, expected }) => !statuses[expected].includes(status))).toEqual([]);
    });
  });
});

test('a rotation under load: no good delivery gets 401, with the old or the new secret', async () => {
  /** Deliveries before the rotation, and as many after it. */
  const DELIVERIES = 100;
  const SENDERS = 4;
  await withStack({}, async ({ outputs, operator }) => {
    const partner = new Partner(outputs.WebhookUrl);
    const statuses = new Set<number>();
    let posted = 0;
    let newest = TEST_SECRET;

    async function send(): Promise<void> {
      while (posted < 2 * DELIVERIES) {
        posted += 1;
        if (posted === DELIVERIES) {
          const rotation = { SecretId: outputs.WebhookSecretArn, SecretString: 'the new secret' };
          await new SecretsManagerClient(operator).send(new PutSecretValueCommand(rotation));
          newest = 'the new secret';
        }
        const body = { ...shopUpdated, data: { shop_id: `shop-${posted}` } };
        // The partner's senders do not all switch at the same time.
        const secret = posted % 2 === 0 ? newest : TEST_SECRET;
        statuses.add((await partner.post(body, { secret })).status);
      }
    }
    await Promise.all(Array.from({ length: SENDERS }, send));
    expect([...statuses]).toEqual([200]);
  });
});

test('a stage with its own encryption key runs here, and a delivery has its effect and is archived', async () => {
  const problems: string[] = [];
  const options = {
    assembly: await stageAssembly('encrypted'),
    onProblem: (problem: string) => problems.push(problem),
  };
  await withStack(options, async ({ outputs, operator }) => {
    const { status } = await new Partner(outputs.WebhookUrl).post(shopUpdated);
    expect(status).toBe(200);
    await eventually(() => new Tables(operator).get(outputs.ShopCacheTable, shopUpdated.data));
    const archive = new ArchiveBucket(outputs.ArchiveBucket, operator);
    const records = await eventually(async () => {
      const found = await archive.records();
      return found.length > 0 ? found : undefined;
    });
    expect(records).toMatchObject([{ event: 'shop.updated', outcome: 'Processed', attempt: 1 }]);
  });
  expect(problems).toEqual([]);
});
