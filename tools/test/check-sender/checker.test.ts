import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { type AnswerStep, parseSteps } from '../../check-sender/answer-steps.ts';
import { Checker } from '../../check-sender/checker.ts';
import { type CheckSummary, isRightInAll, summaryText, Tally } from '../../check-sender/tally.ts';
import { type Verdict, verdictJson, verdictText } from '../../check-sender/verdict.ts';

const SECRET = 'A0b1C2d3E4f5A6b7';

const sign = (body: string | Buffer, secret = SECRET) => createHmac('sha256', secret).update(body).digest();

const BODY = JSON.stringify({ event: 'shop.updated', data: { shop_id: 'shop-1' }, timestamp: new Date() });

let running: Started | undefined;

afterEach(async () => {
  await running?.checker.close();
  running = undefined;
});

interface Started {
  readonly checker: Checker;
  readonly verdicts: Verdict[];
  readonly notices: string[];
  readonly tally: Tally;
}

async function start(
  steps: readonly AnswerStep[] = [],
  requestTimeoutMilliseconds = 5_000,
  maxConnections = 2_000,
): Promise<Started> {
  const verdicts: Verdict[] = [];
  const notices: string[] = [];
  const tally = new Tally();
  const checker = await Checker.start({
    secret: SECRET,
    port: 0,
    steps,
    requestTimeoutMilliseconds,
    maxConnections,
    onNotice: (line) => notices.push(line),
    onVerdict: (verdict) => {
      verdicts.push(verdict);
      tally.add(verdict);
    },
  });
  running = { checker, verdicts, notices, tally };
  return running;
}

const urlOf = ({ checker }: Started) => `http://127.0.0.1:${checker.port}${WEBHOOK_PATH}`;

const post = (
  started: Started,
  body: string | Buffer<ArrayBuffer> = BODY,
  signature = sign(body).toString('hex'),
  init: RequestInit = {},
) =>
  fetch(urlOf(started), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-webhook-signature': signature },
    body,
    ...init,
  });

/**
 * Sends bytes that no HTTP client would send.
 * @returns the answer
 */
async function raw({ checker }: Started, ...parts: (string | Uint8Array)[]): Promise<string> {
  const socket = connect({ port: checker.port, host: '127.0.0.1' });
  let answer = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    answer += text;
  });
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  await once(socket, 'connect');
  for (const part of parts) socket.write(part);
  await Promise.race([closed, sleep(3_000)]);
  socket.destroy();
  return answer;
}

/**
 * Waits for a number of verdicts.
 * @returns the last one
 */
function verdict({ verdicts }: Started, count = 1): Promise<Verdict> {
  return eventually(async () => (verdicts.length >= count ? verdicts.at(-1) : undefined), { limit: 10_000 });
}

const kindsOf = ({ findings }: Pick<Verdict, 'findings'>) => findings.map(({ kind }) => kind);

const summaryOf = ({ tally, checker }: Started, isCut = false) => tally.summary(checker.deliveries(), isCut);

const outcomeOf = (summary: CheckSummary) =>
  stripVTControlCharacters(summaryText(summary, Number.POSITIVE_INFINITY)[0] ?? '');

const head = (...lines: string[]) =>
  [`POST ${WEBHOOK_PATH} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', ...lines, '', ''].join(
    '\r\n',
  );
const signed = `X-Webhook-Signature: ${sign(BODY).toString('hex')}`;
const closing = 'Connection: close';

test('it answers in the words of the service: 200 to a right request, 400, 401 and 404 to wrong ones', async () => {
  const started = await start();
  const answers = [
    await post(started),
    await post(started, '{}'),
    await post(started, BODY, 'x'),
    await fetch(new URL('/elsewhere', urlOf(started))),
  ];
  const bodies = await Promise.all(answers.map((answer) => answer.json()));
  expect(bodies).toMatchObject([
    { status: 'queued', eventId: expect.stringMatching(/^[0-9a-f]{64}$/) },
    { status: 400, type: 'urn:partner-webhooks:problem:unusable-event' },
    { status: 401, type: 'urn:partner-webhooks:problem:invalid-signature' },
    { message: 'Not Found' },
  ]);
  expect(answers[1]?.headers.get('content-type')).toBe('application/problem+json');
  await verdict(started, 4);
  expect(answers.map(({ status }) => status)).toEqual([200, 400, 401, 404]);
  expect(started.verdicts.map(({ word }) => word)).toEqual(['queued', undefined, undefined, undefined]);
  expect(summaryOf(started)).toMatchObject({
    requests: 4,
    right: 1,
    accepted: 1,
    statuses: { 200: 1, 400: 1, 401: 1, 404: 1 },
  });
});

test('a mistake behind another one is announced at the request, and counted', async () => {
  const started = await start();
  const body = BODY.replace(/"timestamp":"([^"]+)Z"/, '"timestamp":"$1"');
  await post(started, body, '0'.repeat(64));
  const text = verdictText(await verdict(started), 200).map(stripVTControlCharacters);
  expect(text).toContainEqual(
    expect.stringContaining('After you fix the signature: timestamp has no time zone'),
  );
  const { mistakes } = summaryOf(started);
  expect(mistakes.map(({ what }) => what)).toContainEqual(
    expect.stringMatching(/^timestamp has no time zone/),
  );
});

test('the summary counts each mistake, and names its requests', async () => {
  const started = await start();
  const withoutShop = BODY.replace('"shop_id":"shop-1"', '');
  for (const body of [withoutShop, BODY.replace('"event"', '"evt"'), `${withoutShop} `, BODY]) {
    await post(started, body);
  }
  await verdict(started, 4);
  const summary = summaryOf(started, true);
  expect(summary.mistakes.map(({ count, what, requests }) => [count, what, requests])).toEqual([
    [2, 'data.shop_id is missing.', [1, 3]],
    [1, expect.stringMatching(/^event is missing/), [2]],
  ]);
  const rows = summaryText(summary, 100).map(stripVTControlCharacters);
  expect(rows).toContain('  wrong  data.shop_id is missing. (2 requests: #1, #3)');
});

describe('any input gets a verdict, and the server continues', () => {
  const length = `Content-Length: ${Buffer.byteLength(BODY)}`;
  const chunk = `${Buffer.byteLength(BODY).toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
  const oldHead = head(signed, length).replace('HTTP/1.1\r\nHost: x', 'HTTP/1.0');
  test.each([
    [['signature-twice'], [head(signed, signed, length, closing), BODY], / 401 /],
    [['http-version', 'host'], [oldHead, BODY], / 200 /],
    [['chunked'], [head(signed, 'Transfer-Encoding: chunked', closing), chunk], / 200 /],
    [
      ['expect'],
      [head(signed, 'Expect: 100-continue', length, closing), BODY],
      / 100 Continue[\s\S]*HTTP\/1.1 200 /,
    ],
    [['not-http'], [Buffer.from([0, 1, 2, 3, 255, 10, 13, 10, 13, 10])], / 400 /],
    [['tls'], [Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3])], / 400 /],
    [['http-2'], ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'], / 400 |^$/],
    [['head-too-large'], [head(`Cookie: ${'c'.repeat(20_000)}`)], / 4\d\d /],
    [['framing'], [head('Content-Length: 1', 'Content-Length: 2'), 'xx'], / 400 /],
    [['framing'], [head('Content-Length: 1', 'Transfer-Encoding: chunked'), 'xx'], / 400 /],
    [['framing'], [head('Transfer-Encoding: chunked'), 'zz\r\n'], / 400 /],
    [['malformed-head'], [head('X-Webhook-Signature: abc\r\ndef', closing)], / 400 /],
    [['method'], [head(signed, length, closing).replace('POST', 'post'), BODY], / 400 /],
    [['method'], ['CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'], / 404 /],
  ])('%s', async (kinds, parts, answer) => {
    const started = await start();
    expect(await raw(started, ...parts)).toMatch(answer);
    expect(kindsOf(await verdict(started))).toEqual(kinds);
    expect((await post(started)).status).toBe(200);
    await verdict(started, 2);
  });

  test.each([
    ['headers that never end', [`POST ${WEBHOOK_PATH} HTTP/1.1\r\nHost: x\r\n`], /never ended/],
    ['a body that never ends', [head('Content-Length: 100'), '12345'], /5 bytes of its body arrived/],
    [
      'a body shorter than its Content-Length',
      [head(signed, `Content-Length: ${BODY.length + 5}`), BODY],
      new RegExp(`JSON was complete after ${BODY.length} bytes, but the request was not`),
      'content-length-large',
    ],
  ])('%s: it is reported after the time limit', async (_what, parts, says, kind = 'never-ended') => {
    const started = await start([], 500);
    expect(await raw(started, ...parts)).toMatch(/^HTTP\/1.1 408/);
    const { findings } = await verdict(started);
    expect(findings).toMatchObject([{ kind, what: expect.stringMatching(says) }]);
    await sleep(50);
    expect(started.verdicts).toHaveLength(1);
  });

  const accented = BODY.replace('shop-1', 'café-é');
  const moreAccented = BODY.replace('shop-1', `caf${'é'.repeat(15)}`);
  const short = (body: string, signature = sign(body).toString('hex')) =>
    head(`X-Webhook-Signature: ${signature}`, `Content-Length: ${body.length}`);
  test.each([
    ['in one write', [`${short(accented)}${accented}`], ['content-length-small']],
    [
      'with more of it left out, from the T of the timestamp on',
      [`${short(moreAccented)}${moreAccented}`],
      ['content-length-small'],
    ],
    [
      'with the last byte later',
      [`${short(accented)}${accented.slice(0, -2)}`, accented.slice(-2, -1), '}'],
      ['content-length-small'],
    ],
    [
      'and the signature of another secret',
      [`${short(accented, sign(accented, 'another').toString('hex'))}${accented}`],
      ['content-length-small', 'signature-other'],
    ],
    ['by being absent', [`${head(signed)}${BODY}`], ['content-length-small']],
  ])(
    "a Content-Length that counts characters, %s, gets the service's answer and one verdict",
    async (_what, parts, kinds) => {
      const started = await start();
      const answer = await raw(started, ...parts);
      expect(answer).toMatch(/^HTTP\/1.1 401[\s\S]*invalid-signature/);
      expect(kindsOf(await verdict(started))).toEqual(kinds);
      expect((await post(started)).status).toBe(200);
      await verdict(started, 2);
      expect(started.verdicts.map(({ request }) => request)).toEqual([1, 2]);
    },
  );

  test('bytes after a right request are reported, and it is accepted', async () => {
    const started = await start();
    expect(await raw(started, `${head(signed, length)}${BODY}}}`)).toMatch(/^HTTP\/1.1 200/);
    expect(kindsOf(await verdict(started))).toEqual(['content-length-small']);
  });

  test('pipelined requests with line breaks in between are accepted', async () => {
    const started = await start();
    const one = `${head(signed, length)}${BODY}`;
    const other = BODY.replace('shop-1', 'shop-2');
    const last = `${head(`X-Webhook-Signature: ${sign(other).toString('hex')}`, `Content-Length: ${other.length}`, closing)}${other}`;
    expect(await raw(started, `${one}\r\n${last}`)).toMatch(/^HTTP\/1.1 200[\s\S]*HTTP\/1.1 200/);
    await verdict(started, 2);
    expect(isRightInAll(summaryOf(started, true))).toBe(true);
  });

  test.each([
    ['broken-off', '12345', 'after 5 bytes'],
    ['content-length-large', BODY, `complete after ${BODY.length} bytes`],
  ])('a body that breaks off is reported: %s', async (kind, body, says) => {
    for (const end of ['destroy', 'resetAndDestroy', 'end'] as const) {
      const started = await start();
      const socket = await open(started);
      socket.write(`${head('Content-Length: 1000')}${body}`);
      await sleep(50);
      socket[end]();
      const { findings } = await verdict(started);
      expect(findings).toEqual([expect.objectContaining({ kind, what: expect.stringContaining(says) })]);
      socket.destroy();
      await started.checker.close();
    }
  });

  test('too many connections are reported once, not each', async () => {
    const started = await start([], 5_000, 1);
    const sockets = [await open(started)];
    for (let count = 0; count < 5; count += 1) {
      const socket = await open(started);
      await once(socket, 'close');
      sockets.push(socket);
    }
    for (const socket of sockets) socket.destroy();
    expect(started.notices).toEqual(['More than 1 connections at the same time: further ones are rejected.']);
  });

  test('a connection without a request is not reported', async () => {
    const started = await start();
    const socket = await open(started);
    socket.end();
    await once(socket, 'close');
    expect((await post(started)).status).toBe(200);
    await verdict(started);
  });

  test('20 MB: 413, and bytes beyond the limit are not stored', async () => {
    const started = await start([], 60_000);
    const before = process.memoryUsage().arrayBuffers;
    const size = 20 * 1024 * 1024;
    const request = httpRequest(urlOf(started), { method: 'POST', headers: { 'content-length': size } });
    const answered = once(request, 'response');
    const part = Buffer.alloc(1024 * 1024, ' ');
    for (let sent = 0; sent < size; sent += part.length) {
      await new Promise((resolve) => request.write(part, resolve));
    }
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    for (let pass = 0; pass < 3; pass += 1) collect();
    const held = process.memoryUsage().arrayBuffers - before;
    request.end();
    const [answer] = await answered;
    answer.resume();
    expect(answer.statusCode).toBe(413);
    expect(held).toBeLessThan(size * 0.75);
    expect(kindsOf(await verdict(started))).toEqual(['body-too-large', 'content-type-missing']);
  });
});

async function open({ checker }: Started): Promise<Socket> {
  const socket = connect({ port: checker.port, host: '127.0.0.1' });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

describe('it plays', () => {
  test('slow as slow=35s: longer than the gateway waits', () => {
    expect(parseSteps('slow,ok')).toEqual(parseSteps('slow=35s,ok'));
  });

  test('a sequence for each delivery, and reports how each was repeated', async () => {
    const started = await start(parseSteps('500,401,429,502,503,504,ok'));
    const other = BODY.replace('shop-1', 'shop-2');
    const statuses = [500, 401, 429, 502, 503, 504, 200];
    for (const status of statuses) expect((await post(started)).status).toBe(status);
    expect((await post(started, other)).status).toBe(500);
    await verdict(started, 8);
    const { repeats, unrepeated, accepted } = summaryOf(started);
    expect(accepted).toBe(8);
    expect(repeats).toEqual([
      expect.objectContaining({
        delivery: 1,
        event: 'shop.updated',
        requests: 7,
        endings: statuses,
        isSameBytes: true,
        isSameSignature: true,
      }),
    ]);
    expect(unrepeated).toBe(1);
  });

  test('a failure that is not called accepted', async () => {
    const started = await start(parseSteps('500'));
    await post(started);
    const [headline = ''] = verdictText(await verdict(started), 100).map(stripVTControlCharacters);
    expect(headline).toMatch(/^✓ right +500 simulated .*the service would answer 200 queued$/);
    expect(headline).not.toContain('accepted');
  });

  const changed = BODY.replace(/Z"/, '1Z"');
  test.each([
    ['without the repeat', false, [BODY], false, '✗ The request was right, and not'],
    [
      'ended before a repeat',
      false,
      [BODY],
      true,
      '✗ The request was right, and not always repeated when required.',
    ],
    ['repeated', true, [BODY, BODY], false, '✓ All 2 requests were right.'],
    ['changed', false, [BODY, changed], false, '✗ 1 of 2 requests was wrong.'],
  ])('a failure, %s: the result is %j', async (_what, isRight, bodies, isCut, line) => {
    const started = await start(parseSteps('500,ok'));
    for (const [index, body] of bodies.entries()) {
      await post(started, body);
      await verdict(started, index + 1);
    }
    const summary = summaryOf(started, isCut);
    expect(isRightInAll(summary)).toBe(isRight);
    expect(outcomeOf(summary)).toContain(line);
  });

  test.each([
    ['500', { type: 'urn:partner-webhooks:problem:server-error' }],
    ['429', { message: 'Too Many Requests' }],
    ['504', { message: 'Gateway Timeout' }],
  ])('%s in the words of the service', async (step, words) => {
    const answer = await post(await start(parseSteps(step)));
    expect({ status: String(answer.status), words: await answer.json() }).toMatchObject({
      status: step,
      words,
    });
  });

  test('Retry-After, and reports an earlier repeat', async () => {
    const started = await start(parseSteps('retry-after=60s,ok'));
    const { status, headers } = await post(started);
    expect({ status, retryAfter: headers.get('retry-after') }).toEqual({ status: 500, retryAfter: '60' });
    await post(started);
    expect(kindsOf(await verdict(started, 2))).toEqual(['repeat', 'retry-after-ignored']);
  });

  test.each([
    ['follows', 'follow', [[], ['redirect-followed']]],
    ['does not follow', 'manual', [[]]],
  ] as const)('a redirect, and says so if the sender follows it: it %s', async (_what, redirect, kinds) => {
    const started = await start(parseSteps('redirect,ok'));
    await post(started, BODY, undefined, { redirect });
    await verdict(started, kinds.length);
    expect(started.verdicts.map(kindsOf)).toEqual(kinds);
    expect(started.verdicts[0]?.ending).toBe(302);
  });

  test.each(['cut', 'cut-late'])(
    '%s: the sender has no answer, and nothing is held against its repeat',
    async (step) => {
      const started = await start(parseSteps(`${step},ok`));
      await expect(post(started).then((answer) => answer.text())).rejects.toThrow();
      await verdict(started);
      expect((await post(started)).status).toBe(200);
      const { findings, delivery, attempt } = await verdict(started, 2);
      expect(started.verdicts[0]).toMatchObject({ ending: 'cut', findings: [] });
      expect({ delivery, attempt }).toEqual({ delivery: 1, attempt: 2 });
      expect(findings.map(({ grade, kind }) => `${grade} ${kind}`)).toEqual(['fine repeat']);
    },
  );

  test('slowness, and reports when the sender gives up', async () => {
    const started = await start(parseSteps('slow=10s'));
    await expect(post(started, BODY, undefined, { signal: AbortSignal.timeout(300) })).rejects.toThrow();
    const { ending, findings, milliseconds } = await verdict(started);
    expect(ending).toBe('gave up');
    expect(kindsOf({ findings })).toEqual(['gave-up-early']);
    expect(milliseconds).toBeGreaterThan(100);
    expect(milliseconds).toBeLessThan(5_000);
  });
});

describe('it reports of the last request', () => {
  const other = BODY.replace('shop-1', 'shop-2');
  const later = BODY.replace(/Z"/, '1Z"');
  const indented = JSON.stringify(JSON.parse(BODY), null, 1);
  const sameId = [BODY, other].map((body) => body.replace('{', '{"webhookId":"w",'));
  const zipped = Buffer.from(gzipSync(BODY));
  test.each([
    ['that 200 is final', 'ok', [BODY, BODY], ['repeat', 'repeat-after-200']],
    ['200 is final in other bytes', 'ok', [BODY, indented], ['repeat', 'repeat-after-200']],
    ['that it came early', '500', [BODY, BODY], ['repeat', 'repeat-early']],
    ['that its timestamp is new', '500', [BODY, later], ['repeat', 'repeat-early', 'repeat-changed']],
    // The webhookId may be that of a subscription, so it does not identify a delivery.
    ['nothing of another event with the same webhookId', 'ok', sameId, []],
    ['nothing of another event with the same data', 'ok', [BODY, later], []],
    ['that repeats are a storm', '500,500,500,ok', [BODY, BODY, BODY, BODY], ['repeat', 'repeat-storm']],
    ['that its signature is that of an earlier event', 'ok', [BODY, other], ['signed-event-before'], BODY],
    ['first that its bytes were changed', 'ok', [BODY, zipped], ['compressed'], BODY],
  ])('%s', async (_what, steps, bodies, kinds, signedBody = '') => {
    const started = await start(parseSteps(steps));
    for (const [index, body] of bodies.entries()) {
      await post(started, body, sign(signedBody || body).toString('hex'));
      await verdict(started, index + 1);
    }
    expect(kindsOf(await verdict(started, bodies.length))).toEqual(kinds);
  });
});

test.each(['ok', '500,500,ok'])(
  'requests in parallel are not called repeats of answered ones: %s',
  async (steps) => {
    const started = await start(parseSteps(steps));
    await Promise.all([open(started), open(started)]).then((sockets) => {
      for (const socket of sockets) socket.write(`${head(signed, `Content-Length: ${BODY.length}`)}${BODY}`);
    });
    await verdict(started, 2);
    expect(started.verdicts.map(kindsOf)).toEqual([[], ['repeat', 'repeat-while-under-way']]);
  },
);

test('of requests in parallel, one that is accepted is enough', async () => {
  const started = await start(parseSteps('slow=300ms,500'));
  const [first] = await Promise.all([post(started), sleep(100).then(() => post(started))]);
  expect(first?.status).toBe(200);
  await verdict(started, 2);
  expect(summaryOf(started)).toMatchObject({ unrepeated: 0 });
});

test('another event with the same data is not a repeat while the first is under way', async () => {
  const started = await start(parseSteps('slow=500ms'));
  await Promise.all([post(started), post(started, BODY.replace(/Z"/, '1Z"'))]);
  await verdict(started, 2);
  expect(started.verdicts.map(kindsOf)).toEqual([[], []]);
});

describe('a corrected request after a refused one', () => {
  const at = (timestamp: string) => BODY.replace(/"timestamp":"[^"]+"/, `"timestamp":"${timestamp}"`);
  const now = new Date().toISOString();
  interface Refused {
    readonly body: string | Buffer<ArrayBuffer>;
    /** Hash of the signature header. @default one that depends on the body */
    readonly signature?: string;
  }
  const wrongSecret = { body: BODY, signature: sign(BODY, 'another').toString('hex') };

  test.each([
    ['the signature of the same bytes', 'ok', [wrongSecret], BODY],
    ['the secret, then a timestamp', 'ok', [wrongSecret, { body: at('2026-01-31') }], at(now)],
    ['double JSON', 'ok', [{ body: JSON.stringify(BODY) }], BODY],
    ['compression', 'ok', [{ body: Buffer.from(gzipSync(BODY)) }], BODY],
    ['UTF-16', 'ok', [{ body: Buffer.from(BODY, 'utf16le') }], BODY],
    ['a field', 'ok', [{ body: BODY.replace('shop_id', 'shopId') }], at(now)],
    ['the secret, during a failure', '500,ok', [wrongSecret], at(now)],
  ])('is not a repeat, and right: %s', async (_what, steps, refused, corrected) => {
    const started = await start(parseSteps(steps));
    for (const { body, signature } of refused as Refused[]) {
      await post(started, body, signature);
    }
    await post(started, corrected);
    const count = refused.length + 1;
    expect(kindsOf(await verdict(started, count))).toEqual([]);
    const summary = summaryOf(started, true);
    expect(summary).toMatchObject({ requests: count, right: 1, corrected: refused.length, repeats: [] });
    // With simulated failures, the corrected request would have to be repeated, and is not.
    expect(isRightInAll(summary)).toBe(steps === 'ok');
    expect(outcomeOf(summary)).toMatch(/^[✓✗] \d of \d requests (was|were) wrong, and corrected later/);
  });

  test('leaves others wrong', async () => {
    const started = await start();
    await post(started, wrongSecret.body, wrongSecret.signature);
    const other = BODY.replace('shop-1', 'shop-2');
    await post(started, other, sign(other, 'another').toString('hex'));
    await post(started);
    await verdict(started, 3);
    const summary = summaryOf(started, true);
    expect(isRightInAll(summary)).toBe(false);
    expect(outcomeOf(summary)).toMatch(/^✗ 2 of 3 requests were wrong, and 1 of them corrected later\./);
  });

  test('does not hide that a repeat had other bytes', async () => {
    const started = await start(parseSteps('500,ok'));
    await post(started);
    await post(started, at('2026-01-31T09:00:00Z'), sign(BODY).toString('hex'));
    await post(started, at(now));
    await verdict(started, 3);
    const changed = started.verdicts.map((told) => kindsOf(told).includes('repeat-changed'));
    expect(changed).toEqual([false, true, false]);
    expect(isRightInAll(summaryOf(started, true))).toBe(false);
  });
});

// Takes 6 s: 40 deliveries, one after the other, each searched for mistakes.
test('its output shows no secret, signature or part of the body, and cannot control a terminal', async () => {
  const started = await start(parseSteps('ok,500'));
  const word = fc.string({
    unit: fc.constantFrom(...'abcXYZ \u0001\u0007\u001b\u007f\u009b\u202e'),
    minLength: 12,
    maxLength: 20,
  });
  await fc.assert(
    fc.asyncProperty(word, word, fc.boolean(), fc.nat(3), async (one, two, isSigned, shape) => {
      const body = [
        JSON.stringify({ event: one, data: { [two]: one }, timestamp: two, [one]: two }),
        BODY.replace('shop-1', JSON.stringify(one).slice(1, -1)),
        JSON.stringify({ event: 'shop.updated', data: one, timestamp: two }),
        `${one}=${two}`,
      ][shape] as string;
      const signature = sign(body, isSigned ? SECRET : two).toString('hex');
      const before = started.verdicts.length;
      const headers = {
        'x-webhook-signature': signature,
        'content-type': 'application/json',
        'user-agent': encodeURIComponent(two),
      };
      await fetch(`${urlOf(started)}?${encodeURIComponent(one)}`, { method: 'POST', headers, body });
      const told = await verdict(started, before + 1);
      const summary = summaryOf(started);
      const texts = [...verdictText(told, 100), verdictJson(told), ...summaryText(summary, 100)];
      const lines = [...texts, JSON.stringify(summary)].join('\n');
      const inJson = [one, two].map((word) => JSON.stringify(word).slice(1, -1));
      for (const hidden of [SECRET, signature, one, two, ...inJson]) expect(lines).not.toContain(hidden);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it is control characters that are looked for
      expect(lines.replaceAll(/\u001b\[\d+m/g, '')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    }),
    { numRuns: 40 },
  );
});
