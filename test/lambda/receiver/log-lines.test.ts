import { createHash } from 'node:crypto';
import { DeleteSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from '../../../local/local-stack.ts';
import { eventually } from '../../support/eventually.ts';
import { type Answer, Partner } from '../../support/partner.ts';
import { startTestStack } from '../../support/test-stack.ts';
import { FunctionLines } from '../function-lines.ts';

const WRONG = 'f'.repeat(64);
/** The receiver warns of its white space. */
const secret = 'pasted-with-a-line-break\n';
const event = { event: 'shop.updated', data: { shop_id: 's' }, timestamp: '2026-01-31T09:00:00Z' };
const eventId = createHash('sha256').update(JSON.stringify(event)).digest('hex');

const inAnHour = new Date(Date.now() + 3_600_000).toISOString();

const lines = new FunctionLines();
/** The lines of one request to the receiver. */
const linesOf = ({ body }: Answer) =>
  lines.of('receiver').filter(({ requestId }) => requestId === body.requestId);

let stack: LocalStack;
let accepted: Answer;
let wrong: Answer;
let wrongWithoutSecret: Answer;
let wrongSoonAfter: Answer;
let refused: Answer;
let onTime: Answer;
let ofAFastClock: Answer;

beforeAll(async () => {
  stack = await startTestStack({ secret, onLog: lines.add });
  const partner = new Partner(stack.outputs.WebhookUrl);
  accepted = await partner.post(event, { secret });
  onTime = await partner.post({ ...event, timestamp: new Date().toISOString() }, { secret });
  ofAFastClock = await partner.post({ ...event, timestamp: inAnHour }, { secret });
  // One execution environment has now cached the secret; the requests below come one after the other.
  wrong = await partner.post(event, { signature: WRONG });
  await stack.functions.get('receiver')?.function.kill();
  await partner.post(event, { secret });
  await new SecretsManagerClient(stack.operator).send(
    new DeleteSecretCommand({ SecretId: stack.outputs.WebhookSecretArn, ForceDeleteWithoutRecovery: true }),
  );
  wrongWithoutSecret = await partner.post(event, { signature: WRONG });
  wrongSoonAfter = await partner.post(event, { signature: WRONG });
  await stack.functions.get('receiver')?.function.kill();
  refused = await partner.post(event, { secret });
  await eventually(async () => (linesOf(refused).length > 0 ? true : undefined));
});
afterAll(() => stack.close());

test('every line of the receiver has the id of its request and of the event', () => {
  expect(lines.of('receiver').length).toBeGreaterThanOrEqual(10);
  const others = [onTime, ofAFastClock].map(({ body }) => ({
    requestId: body.requestId,
    eventId: body.eventId,
  }));
  for (const line of lines.of('receiver')) {
    const other = others.find(({ requestId }) => requestId === line.requestId);
    expect(line).toMatchObject(other ?? { requestId: expect.any(String), eventId });
  }
});

describe('the lag of a delivery', () => {
  const lagOf = (answer: Answer) => Number(linesOf(answer).at(-1)?.lagMs);

  test('counts from the partner’s timestamp to the receipt', () => {
    const untilNow = Date.now() - Date.parse(event.timestamp);
    expect(lagOf(accepted)).toBeGreaterThan(untilNow - 60_000);
    expect(lagOf(accepted)).toBeLessThanOrEqual(untilNow);
    expect(lagOf(onTime)).toBeLessThan(10_000);
  });

  test('is 0 where the partner’s clock is ahead', () => {
    expect(lagOf(ofAFastClock)).toBe(0);
  });

  test('takes no line of metrics: filters count it from the log', () => {
    const own = lines.metrics.filter(({ dimensions }) => dimensions.service === 'receiver');
    expect(new Set(own.map(({ name }) => name))).toEqual(
      new Set(['Rejected', 'SecretUnreadable', 'ServerError', 'VersionError']),
    );
  });
});

test.each([
  ['accepted', () => accepted, 200, ['Accepted', expect.stringContaining('white space')]],
  ['with a wrong signature', () => wrong, 401, ['Rejected']],
  [
    'with a wrong signature while the secret cannot be read',
    () => wrongWithoutSecret,
    401,
    ['Rejected', expect.stringContaining('not readable')],
  ],
  ['with a wrong signature soon after', () => wrongSoonAfter, 401, ['Rejected']],
  ['refused as there is no secret', () => refused, 500, ['ServerError']],
])('a request that is %s leaves its lines with its own id', (_, answer, status, messages) => {
  expect(answer().status).toBe(status);
  const written = linesOf(answer()).map(({ message }) => String(message));
  expect(written.toSorted()).toEqual(messages);
});

describe('a secret that cannot be read', () => {
  test('is counted once a read: beside a cached one, not where it was read just before, and without one', () => {
    expect(lines.published('SecretUnreadable')).toEqual(
      [1, 2].map(() => ({
        namespace: expect.any(String),
        name: 'SecretUnreadable',
        unit: 'Count',
        value: 1,
        dimensions: { service: 'receiver' },
      })),
    );
  });
});
