import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Fault, InjectedFaults } from 'local-aws/faults';
import type { PublishedNotification } from 'local-aws/observation';
import { sqsEvent } from '../../../events/samples.ts';
import {
  type Notification,
  notificationMessage,
  subjectOf,
} from '../../../lambda/effects/notification-message.ts';
import { type EventName, eventNames, isNotification } from '../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../lambda/events/event-names.ts';
import { sha256Hex } from '../../../lambda/hash.ts';
import type { Replay } from '../../../lambda/queue/replay.ts';
import { anyCharacter } from '../../support/any-character.ts';
import {
  type ConsumerHandler,
  consumerContext,
  functionEnvironment,
  replayedBy,
} from '../../support/function-environment.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';
import { captureInTests, FunctionLines } from '../function-lines.ts';

const timestamp = '2026-01-31T09:00:00Z';
const REPAIR: Replay = { name: 'repair-1', mode: 'repair', notify: true };

const reviewPosted: Notification = {
  event: 'review.posted',
  eventId: 'a'.repeat(64),
  timestamp: '2026-01-31T09:00:00.000000000Z',
  effectiveTimestamp: '2026-01-31T09:00:00.000000000Z',
  title: 'Review posted',
  data: {},
  replay: undefined,
  lines: [],
};

describe('the message of a notification', () => {
  const message = (lines: Notification['lines']) => {
    const { default: text, https } = JSON.parse(notificationMessage({ ...reviewPosted, lines }));
    return { text, chat: JSON.parse(https) };
  };

  test('is readable text, and over HTTPS a custom notification that cannot mention a chat room', () => {
    const lines = [
      ['Shop', 's'],
      ['Rating', undefined],
      ['Comment', '<!channel> & <http://x|y> &'],
    ] as const;
    expect(message(lines)).toEqual({
      text: 'Review posted\n\nShop: s\nComment: <!channel> & <http://x|y> &',
      chat: {
        version: '1.0',
        source: 'custom',
        content: {
          textType: 'client-markdown',
          title: 'Review posted',
          description: '*Shop:* s\n*Comment:* &lt;!channel&gt; &amp; &lt;http://x|y&gt; &amp;',
        },
      },
    });
  });

  test('is only its title if nothing else is known', () => {
    const { text, chat } = message([['Shop', undefined]]);
    expect([text, chat.content.description]).toEqual(['Review posted', 'Review posted']);
  });

  test('is shortened between characters', () => {
    const comment = '😀'.repeat(1000);
    expect(message([['Comment', comment]]).text).toBe(`Review posted\n\nComment: ${comment}`);
    expect(message([['Comment', `${comment}x`]]).text).toBe(`Review posted\n\nComment: ${comment}…`);
  });
});

describe('a notification for programs', () => {
  const parts = (more: Partial<Notification>): Record<string, string> =>
    JSON.parse(notificationMessage({ ...reviewPosted, ...more }));
  const document = (more: Partial<Notification>) => JSON.parse(parts(more).sqs ?? '');

  test('has values of at most 1,000 characters that a queue accepts', () => {
    const comment = '\uFFFE\uFFFF\u0000\u001F\n😀';
    const data = { comment, name: 'x'.repeat(1001) };
    expect(parts({ data }).sqs).toMatch(/^[\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]+$/u);
    expect(document({ data }).data).toEqual({ comment, name: `${'x'.repeat(1000)}…` });
  });

  test('names a replay that notifies again, and no other', () => {
    expect(document({ replay: REPAIR })).toMatchObject({ replay: 'repair-1' });
    expect(document({ replay: { ...REPAIR, notify: false } })).not.toHaveProperty('replay');
  });
});

describe('a subject', () => {
  // Source: Amazon SNS API reference, `Publish`: UTF-8 text, no line breaks or control characters, less than 100
  // characters.
  const SUBJECT = /^[^\p{Cc}\p{Zl}\p{Zp}]{1,99}$/u;

  test.each([
    ['x'.repeat(99), 'x'.repeat(99)],
    ['Review\r\nBcc: a\tb\u0085\u2028c', 'Review Bcc: a b c'],
    ['🌸 Review of 𠮷野 🌸 posted 🌸', 'Review of 野 posted'],
    ['🌸\n', undefined],
  ])('is what SNS accepts of the title %j', (title, subject) => {
    expect(subjectOf(title)).toBe(subject);
  });

  test('is valid for every title', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 300 }), (title) => {
        expect(subjectOf(title) ?? '-').toMatch(SUBJECT);
      }),
    );
  });
});

const faults = new InjectedFaults();
const lines = new FunctionLines();
const published: PublishedNotification[] = [];
const handlers = new Map<string, ConsumerHandler>();
const accessKeys = new Map<string, string | undefined>();
let aws: TestAws;
beforeAll(async () => {
  aws = await startTestAws(faults, {
    onItemChange() {},
    onNotification: (notification) => published.push(notification),
  });
  for (const event of eventNames.filter(isNotification)) {
    Object.assign(process.env, functionEnvironment(kebabCase(event), aws, 'role'));
    const { handler } = await import(`../../../lambda/events/${kebabCase(event)}/consumer.ts`);
    handlers.set(event, handler);
    accessKeys.set(event, process.env.AWS_ACCESS_KEY_ID);
  }
});
captureInTests(lines, faults);
beforeEach(() => {
  published.length = 0;
});
afterAll(() => aws.close());

interface NotifyingPayload {
  readonly event: EventName;
  readonly data: object;
  readonly timestamp: string;
}

/**
 * Processes an event.
 * @param receivedAt ISO 8601. Without it, the event's timestamp
 * @returns whether the message was settled
 */
async function consume(payload: NotifyingPayload, replay?: Replay, receivedAt?: string): Promise<boolean> {
  const { event } = payload;
  // A client reads the access key at its first call.
  process.env.AWS_ACCESS_KEY_ID = accessKeys.get(event);
  const batch = replayedBy(replay, sqsEvent({ event, name: 'consumer', payload: { ...payload } }));
  for (const { messageAttributes } of batch.Records) {
    if (receivedAt) messageAttributes.receivedAt = { dataType: 'String', stringValue: receivedAt };
  }
  const result = await handlers.get(event)?.(batch, consumerContext);
  return result?.batchItemFailures.length === 0;
}

const ownId = () => `id-${randomUUID()}`;

describe.each<[EventName, topic: string, title: string, more: object, otherLines: string]>([
  ['girl.schedule_changed', 'ChatTopicArn', 'Schedule changed', {}, ''],
  [
    'review.posted',
    'ReviewTopicArn',
    'Review posted',
    { rating: 5, comment: 'Very kind', review_id: 'r-1' },
    '\nRating: 5\nComment: Very kind\nReview: r-1',
  ],
])('the notification of %s', (event, topic, title, more, otherLines) => {
  async function textsOf(data: object, at = timestamp) {
    published.length = 0;
    expect(await consume({ event, data, timestamp: at })).toBe(true);
    expect(published).toEqual([expect.objectContaining({ topicArn: aws.outputs[topic] })]);
    return published[0]?.texts ?? { default: '' };
  }

  test('names the shop, the staff member by name or id, and all other known fields', async () => {
    const shop_id = ownId();
    const text = async (data: object) => (await textsOf({ shop_id, ...data })).default;
    const begin = `${title}\n\nShop: ${shop_id}`;
    expect(await text({ girl_id: 'g-1', name: 'Sora' })).toBe(`${begin}\nStaff member: Sora`);
    expect(await text({ girl_id: 'g-1' })).toBe(`${begin}\nStaff member: g-1`);
    expect(await text({ girl_id: 'g-1', name: '' })).toBe(`${begin}\nStaff member: g-1`);
    expect(await text(more)).toBe(`${begin}${otherLines}`);
  });

  test("has the partner's field names for programs, and equals the published example", async () => {
    const data = { shop_id: ownId(), girl_id: 'g-1', name: 'Sora', ...more };
    const { lambda, sqs } = await textsOf({ ...data, unknown: 'x' });
    expect(JSON.parse(sqs ?? '')).toEqual({
      event,
      eventId: published[0]?.attributes.eventId,
      timestamp: '2026-01-31T09:00:00.000000000Z',
      title,
      data: Object.fromEntries(Object.entries(data).map(([field, value]) => [field, String(value)])),
    });
    expect(lambda).toBe(sqs);

    const { oneOf } = JSON.parse(readFileSync('docs/api/schemas/notification.json', 'utf8'));
    const schema = oneOf.find((one: { title: string }) => one.title === `Notification of ${event}`);
    const sample = JSON.parse(readFileSync(`events/${kebabCase(event)}.json`, 'utf8'));
    const { lambda: example } = await textsOf(sample.data, sample.timestamp);
    expect(JSON.parse(example ?? '')).toEqual(schema.examples[0]);
  });
});

describe('a published notification', () => {
  const event = 'girl.schedule_changed';

  test.each([
    { kind: 'a delivery', data: { shop_id: 's' }, replay: undefined, expected: { shop_id: 's' } },
    { kind: 'a delivery without a shop', data: {}, replay: undefined, expected: {} },
    { kind: 'a replay', data: {}, replay: REPAIR, expected: { replay: 'repair-1' } },
  ])('of $kind has the attributes for subscription filters', async ({ data, replay, expected }) => {
    const payload = { event, data: { ...data, girl_id: ownId() }, timestamp } as const;
    await consume(payload, replay);
    expect(published).toEqual([
      expect.objectContaining({
        subject: 'Schedule changed',
        attributes: { event, eventId: sha256Hex(JSON.stringify(payload)), ...expected },
      }),
    ]);
  });

  // Sources: SNS developer guide, "Amazon SNS message attributes"; https://github.com/aws/aws-sdk-java-v2/issues/5828.
  test.each([
    ['shop-🌸', false],
    ['x'.repeat(2049), false],
    ['x'.repeat(2048), true],
    [" shop!#$%&'()*+,-./:;<=>?@[]^_`{|}~", true],
  ])('of the shop %j has its id as an attribute: %p, otherwise its hash', async (shop_id, isSent) => {
    expect(await consume({ event, data: { shop_id, girl_id: ownId() }, timestamp })).toBe(true);
    expect(published).toHaveLength(1);
    expect(published[0]?.attributes.shop_id).toBe(isSent ? shop_id : `sha256:${sha256Hex(shop_id)}`);
    expect(JSON.parse(published[0]?.texts.sqs ?? '').data.shop_id.slice(0, 1000)).toBe(
      shop_id.slice(0, 1000),
    );
  });

  test('tells programs the same effective time in each copy, and also the partner’s if its clock is too far ahead', async () => {
    const data = { shop_id: ownId() };
    const payload = { event, data, timestamp: '2030-01-01T00:00:00Z' } as const;
    await consume(payload, undefined, '2026-01-31T09:00:00.250Z');
    // A copy that arrived later.
    await consume(payload, { ...REPAIR, notify: true }, '2030-06-01T00:00:00.000Z');
    expect(published.map(({ texts }) => JSON.parse(texts.sqs ?? ''))).toEqual(
      [1, 2].map(() =>
        expect.objectContaining({
          timestamp: '2026-01-31T09:05:00.250000000Z',
          partnerTimestamp: '2030-01-01T00:00:00.000000000Z',
        }),
      ),
    );
  });

  test('is reported as possibly repeated if SNS’ answer was lost', async () => {
    faults.inject({ service: 'sns', kind: 'response-lost', every: 2 });
    await consume({ event, data: { shop_id: ownId() }, timestamp });
    expect(lines.logged.map(({ message }) => message)).toEqual(['Processed']);
    await consume({ event, data: { shop_id: ownId() }, timestamp });
    expect(lines.logged.map(({ message }) => message)).toEqual([
      'Processed',
      'PossiblyRepeated',
      'Processed',
    ]);
    expect(lines.published('PossiblyRepeated')).toEqual([
      expect.objectContaining({ dimensions: expect.objectContaining({ event }) }),
    ]);
  });
});

/** One arrival at the consumer: a delivery or a message of a replay, possibly while a dependency is down. */
interface Arrival {
  readonly replay: Replay | undefined;
  readonly fault: Fault | undefined;
}

const arrivals = fc.array(
  fc.record<Arrival>({
    replay: fc.constantFrom<(Replay | undefined)[]>(
      undefined,
      { name: 'quiet-fill', mode: 'fill', notify: false },
      { name: 'quiet-repair', mode: 'repair', notify: false },
      { name: 'fill', mode: 'fill', notify: true },
      { name: 'repair', mode: 'repair', notify: true },
    ),
    // Only failures before SNS accepts the notification. A failure after it is the known window for duplicates.
    fault: fc.option(
      fc.constantFrom<Fault[]>(
        { service: 'sns', kind: 'down' },
        { service: 'dynamodb', operation: 'PutItem', kind: 'down' },
      ),
      { nil: undefined, freq: 3 },
    ),
  }),
  { minLength: 1, maxLength: 8 },
);

// About a hundred events, each several times.
test('people are notified once for an event, and once more for each name of a replay that notifies', async () => {
  await fc.assert(
    fc.asyncProperty(arrivals, async (events) => {
      const payload = { event: 'girl.schedule_changed', data: { shop_id: ownId() }, timestamp } as const;
      const tried: string[] = [];
      for (const { replay, fault } of events) {
        const endFault = fault && faults.inject(fault);
        if (await consume(payload, replay)) tried.push(replay?.name ?? 'delivery');
        endFault?.();
      }
      const named = tried.filter((name) => ['fill', 'repair'].includes(name));
      const notified = published.splice(0).map(({ attributes }) => attributes.replay ?? 'delivery');
      expect(notified.toSorted()).toEqual([...new Set([...tried.slice(0, 1), ...named])].toSorted());
    }),
    { numRuns: 25 },
  );
});
