import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { readSamples, sampleBody } from '../../../events/samples.ts';
import { signatureOf } from '../../../events/signing.ts';
import { WEBHOOK_PATH } from '../../../lambda/receiver/request.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { type AnswerStep, parseSteps } from '../../check-sender/answer-steps.ts';
import { Checker, type Verdict } from '../../check-sender/checker.ts';
import { type RequestEnding, repeatFindings, SentDeliveries } from '../../check-sender/deliveries.ts';
import type { Finding } from '../../check-sender/finding.ts';
import { Tally, verdictText } from '../../check-sender/report.ts';

const SECRET = 'example-secret';
const sign = (body: string | Uint8Array, secret: string) => signatureOf({ body: Buffer.from(body), secret });
const TIMESTAMP = new Date().toISOString();
const event = (fields: object = {}) =>
  JSON.stringify({ event: 'shop.updated', data: { shop_id: 'shop-1' }, timestamp: TIMESTAMP, ...fields });

let checker: Checker;
let verdicts: Verdict[];
afterEach(() => checker.close());

async function start(steps: readonly AnswerStep[] = [], requestTimeout = 30_000): Promise<void> {
  verdicts = [];
  checker = await Checker.start({
    secret: SECRET,
    port: 0,
    steps,
    requestTimeout,
    onVerdict: (verdict) => verdicts.push(verdict),
  });
}

interface Sent {
  readonly body?: string | Uint8Array;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function send({ body = event(), path = WEBHOOK_PATH, method = 'POST', headers = {} }: Sent = {}) {
  return await fetch(`http://localhost:${checker.port}${path}`, {
    method,
    ...(method !== 'GET' && { body }),
    headers: { 'content-type': 'application/json', 'x-webhook-signature': sign(body, SECRET), ...headers },
  });
}

const verdict = (index = 0) => eventually(async () => verdicts[index]);

async function kindsOf(sent: Sent): Promise<string> {
  await send(sent);
  const { findings } = await verdict();
  return findings.map(({ kind }) => kind).join(' ');
}

describe('a request', () => {
  test.each(readSamples())('with the sample of $event is right', async (sample) => {
    await start();
    const response = await send({ body: sampleBody(sample, new Date()) });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: 'queued' });
    expect(await verdict()).toMatchObject({ status: 200, word: 'queued', event: sample.event, findings: [] });
  });

  test.each<[string, Sent]>([
    ['method', { method: 'PUT' }],
    ['path', { path: `${WEBHOOK_PATH}/` }],
    ['query', { path: `${WEBHOOK_PATH}?a=1` }],
    ['content-type', { headers: { 'content-type': 'text/plain' } }],
    ['content-type-charset', { headers: { 'content-type': 'application/json; charset=latin1' } }],
    ['content-encoding', { headers: { 'content-encoding': 'gzip' } }],
    ['secret-sent', { headers: { 'x-api-key': SECRET } }],
    ['head-too-large', { headers: { cookie: 'c'.repeat(11_000) } }],
    ['body-too-large', { body: 'x'.repeat(11 * 1024 * 1024) }],
    ['timestamp-without-zone', { body: event({ timestamp: '2026-01-31T09:00:00' }) }],
    ['timestamp-with-offset', { body: event({ timestamp: '2026-01-31T10:00:00+01:00' }) }],
    ['timestamp-number', { body: event({ timestamp: '1769850000' }) }],
    ['timestamp-no-moment', { body: event({ timestamp: '2026-02-30T09:00:00Z' }) }],
    ['timestamp-past', { body: event({ timestamp: '2026-01-28T09:00:00Z' }) }],
    ['timestamp-future', { body: event({ timestamp: '2099-01-28T09:00:00Z' }) }],
    ['field-missing', { body: event({ timestamp: undefined }) }],
    ['field-missing', { body: event({ data: { shopId: 'shop-1' } }) }],
    ['field-wrong', { body: event({ data: { shop_id: {} } }) }],
    ['data-as-text', { body: event({ data: '{"shop_id":"x"}' }) }],
    ['id-without-value', { body: event({ data: { shop_id: 'undefined' } }) }],
    ['event-misspelt', { body: event({ event: 'Shop.Updated' }) }],
    ['event-unknown', { body: event({ event: 'invoice.paid' }) }],
    ['json-twice', { body: JSON.stringify(event()) }],
    ['json-no-object', { body: `[${event()}]` }],
    ['body-not-json', { body: "{'event': 'shop.updated'}" }],
    ['body-not-json', { body: '{"event": "shop.updated",}' }],
    ['body-not-json', { body: 'event=shop.updated' }],
  ])('with the mistake %s', async (kinds, sent) => {
    await start();
    expect(await kindsOf(sent)).toBe(kinds);
  });

  test('with a wrong signature names the next mistakes, too', async () => {
    await start();
    const body = event({ timestamp: '2026-01-31T09:00:00' });
    expect((await send({ body, headers: { 'x-webhook-signature': sign(body, 'another') } })).status).toBe(
      401,
    );
    expect((await verdict()).findings).toMatchObject([
      { kind: 'signature-other' },
      { kind: 'timestamp-without-zone', isNext: true },
    ]);
  });
});

const broken = async (write: (socket: ReturnType<typeof connect>) => void) => {
  await start([], 1_000);
  const socket = connect(checker.port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  write(socket);
  const { status, findings } = await verdict();
  socket.destroy();
  return { status, kinds: findings.map(({ kind }) => kind) };
};
const head = `POST ${WEBHOOK_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n`;

test.each<[string, (socket: ReturnType<typeof connect>) => void]>([
  ['tls', (socket) => socket.write(Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]))],
  ['not-http', (socket) => socket.write('hello\r\n\r\n')],
  ['never-ended', (socket) => socket.write(`POST ${WEBHOOK_PATH} HTTP/1.1\r\nHost: x\r\n`)],
  ['body-incomplete', (socket) => socket.end(`${head}{"event"`)],
  ['body-incomplete', (socket) => socket.write(`${head}{"event"`)],
])('a connection with bytes that are no complete request: %s', async (kind, write) => {
  expect(await broken(write)).toEqual({ status: undefined, kinds: [kind] });
});

describe('repeats', () => {
  interface Repeated {
    readonly answers: readonly RequestEnding[];
    /** Milliseconds before each repeat. */
    readonly waits: readonly number[];
    readonly bodies?: readonly string[];
    readonly retryAfterSeconds?: number;
  }

  /** The findings about the last of requests that were answered at once. */
  function lastRepeat({ answers, waits, bodies = [], retryAfterSeconds = 0 }: Repeated): string {
    const deliveries = new SentDeliveries();
    let at = 0;
    let findings: Finding[] = [];
    for (const [index, how] of answers.entries()) {
      at += waits[index - 1] ?? 0;
      const body = Buffer.from(bodies[index] ?? event());
      const { delivery, attempt } = deliveries.record({ query: '', headers: [], body }, at);
      findings = [...repeatFindings(delivery)];
      attempt.end = { how, at, retryAfterSeconds };
    }
    return findings.map(({ kind }) => kind).join(' ');
  }

  const other = [event(), `${event()} `];
  test.each<[string, Repeated, string]>([
    ['after longer waits are right', { answers: [500, 401, 200], waits: [600, 700] }, 'repeat'],
    ['after a shorter wait', { answers: [500, 401, 200], waits: [700, 600] }, 'repeat repeat-sooner'],
    ['without waits are a storm', { answers: [500, 500, 200], waits: [0, 0] }, 'repeat repeat-storm'],
    ['after 200 are not wanted', { answers: [200, 200], waits: [600] }, 'repeat repeat-after-final'],
    ['with other bytes', { answers: [500, 200], waits: [600], bodies: other }, 'repeat repeat-changed'],
    [
      'before Retry-After',
      { answers: [500, 200], waits: [600], retryAfterSeconds: 5 },
      'repeat retry-after-ignored',
    ],
  ])('%s', (_, repeated, kinds) => {
    expect(lastRepeat(repeated)).toBe(kinds);
  });

  const again = async (steps: string, requests: number) => {
    await start(parseSteps(steps));
    for (let index = 0; index < requests; index += 1) {
      await send({ headers: { connection: 'close' } }).catch(() => {});
      await verdict(index);
    }
    return verdicts.map(({ ending, findings }) => [ending, findings.map(({ kind }) => kind).join(' ')]);
  };

  test('of a cut answer are judged; a delivery without a repeat is named at the end', async () => {
    expect(await again('cut,ok', 2)).toEqual([
      ['no answer', ''],
      [200, 'repeat'],
    ]);
    expect(checker.deliveries.unrepeated()).toBe(0);
    await checker.close();
    await again('500', 1);
    expect(checker.deliveries.unrepeated()).toBe(1);
    const tally = new Tally();
    for (const one of verdicts) tally.add(one);
    expect([tally.isRight(0), tally.isRight(1)]).toEqual([true, false]);
    expect(tally.text(1).at(-1)).toBe('Not repeated until the end: 1 failed delivery.');
  });

  test('a sender that gives up before the answer is named', async () => {
    await start(parseSteps('slow'));
    const given = httpRequest({
      port: checker.port,
      path: WEBHOOK_PATH,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-webhook-signature': sign(event(), SECRET) },
    });
    given.on('error', () => {});
    given.end(event());
    await eventually(async () => checker.deliveries.all()[0]?.attempts.length || undefined);
    given.destroy();
    expect((await verdict()).findings.map(({ kind }) => kind)).toContain('gave-up-early');
  });
});

test('a verdict is shown with its remedy, and without a value of the request', async () => {
  await start();
  await send({ body: event({ data: { shop_id: 'shop-private' }, timestamp: '2026-01-31T09:00:00' }) });
  const text = verdictText(await verdict(), 100).join('\n');
  expect(text).toContain('400');
  expect(text).toContain('timestamp has no time zone.');
  expect(text).toContain('→ Send the time of the change in UTC');
  expect(text).not.toContain('private');
});

test.each(['', 'never', 'slow=1h', '500;ok'])('the steps %j are refused', async (text) => {
  await start();
  expect(() => parseSteps(text)).toThrow('Each step is one of');
});
