import { SNSClient } from '@aws-sdk/client-sns';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Notification, notificationMessage } from '../../../lambda/effects/notification-message.ts';
import { publish } from '../../../lambda/effects/notifications.ts';
import { catalogue, eventNames } from '../../../lambda/events/catalogue.ts';
import { MAX_ATTRIBUTE_LENGTH } from '../../../lambda/queue/message.ts';
import { Queues } from '../../support/queues.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

const reviewPosted: Notification = {
  event: 'review.posted',
  eventId: 'a'.repeat(64),
  timestamp: '2026-01-31T09:00:00.000000000Z',
  title: 'Review posted',
  data: {},
  replay: undefined,
  lines: [],
};

describe('the message of a notification', () => {
  const message = (lines: [string, string | undefined][]) => {
    const { default: text, https } = JSON.parse(notificationMessage({ ...reviewPosted, lines }));
    return { text, chat: JSON.parse(https) };
  };

  test('is readable text by default', () => {
    const { text } = message([
      ['Shop', 's'],
      ['Rating', undefined],
      ['Comment', 'Nice & <b>warm</b>'],
    ]);
    expect(text).toBe('Review posted\n\nShop: s\nComment: Nice & <b>warm</b>');
  });

  test('is a custom notification of Amazon Q Developer over HTTPS', () => {
    expect(
      message([
        ['Shop', 's'],
        ['Rating', '5'],
      ]).chat,
    ).toEqual({
      version: '1.0',
      source: 'custom',
      content: { textType: 'client-markdown', title: 'Review posted', description: '*Shop:* s\n*Rating:* 5' },
    });
  });

  test('cannot ring a chat room through a mention in a comment', () => {
    expect(message([['Comment', '<!channel> & <http://x|y>']]).chat.content.description).toBe(
      '*Comment:* &lt;!channel&gt; &amp; &lt;http://x|y&gt;',
    );
  });

  test('is its title where nothing else is known', () => {
    expect(message([['Shop', undefined]])).toMatchObject({
      text: 'Review posted',
      chat: { content: { description: 'Review posted' } },
    });
  });

  test('shows a value of 1,000 characters as it is', () => {
    const comment = '😀'.repeat(1000);
    expect(message([['Comment', comment]]).text).toBe(`Review posted\n\nComment: ${comment}`);
  });

  test('shortens a value between characters', () => {
    const { text } = message([['Comment', '😀'.repeat(5000)]]);
    expect(text).toBe(`Review posted\n\nComment: ${'😀'.repeat(1000)}…`);
  });
});

describe('a notification for programs', () => {
  const parts = (more: Partial<Notification>): Record<string, string> =>
    JSON.parse(notificationMessage({ ...reviewPosted, ...more }));
  const document = (more: Partial<Notification>) => JSON.parse(parts(more).sqs ?? '');

  test('has the facts of its event, and no field that is absent', () => {
    expect(document({ data: { shop_id: 's', rating: '5', comment: undefined } })).toEqual({
      event: 'review.posted',
      eventId: 'a'.repeat(64),
      timestamp: '2026-01-31T09:00:00.000000000Z',
      title: 'Review posted',
      data: { shop_id: 's', rating: '5' },
    });
  });

  test('is the same for functions and for queues', () => {
    const { lambda, sqs } = parts({ data: { comment: 'Nice & <b>warm</b>' } });
    expect(lambda).toBe(sqs);
  });

  test('has a value of 1,000 characters as it is', () => {
    const comment = '😀'.repeat(1000);
    expect(document({ data: { comment } }).data).toEqual({ comment });
  });

  test('shortens a value between characters', () => {
    expect(document({ data: { comment: '😀'.repeat(5000) } }).data.comment).toBe(`${'😀'.repeat(1000)}…`);
  });

  test('names a replay that is to tell again', () => {
    const replay = { name: 'mend', mode: 'repair', notify: true } as const;
    expect(document({ replay })).toMatchObject({ replay: 'mend' });
  });

  test('names no replay that tells only whom nobody told', () => {
    const replay = { name: 'mend', mode: 'repair', notify: false } as const;
    expect(document({ replay })).not.toHaveProperty('replay');
  });

  test('has nothing that a queue refuses', () => {
    const comment = '\uFFFE\uFFFF\u0000\u001F\n';
    expect(parts({ data: { comment } }).sqs).toMatch(/^[\x20-\uD7FF\uE000-\uFFFD]+$/);
    expect(document({ data: { comment } }).data).toEqual({ comment });
  });
});

describe('the largest notification', () => {
  /** Of the message with its attributes, in bytes. Source: Amazon SNS API reference, `Publish`. */
  const SNS_LIMIT_BYTES = 262_144;

  const told = eventNames.filter((name) => ['chat', 'review'].includes(catalogue[name].effect));

  test.each(
    // A control character is six bytes as JSON, and seven as JSON in JSON; in Markdown `&` is five.
    told.flatMap((name) => ['\u0001', '\\', '&', '😀'].map((character) => [name, character] as const)),
  )('of %s is one that SNS takes, where it is all %j', (event, character) => {
    const fields = Object.keys(catalogue[event].data.def.shape);
    expect(fields).not.toHaveLength(0);
    const value = character.repeat(2000);
    const message = notificationMessage({
      ...reviewPosted,
      event,
      data: Object.fromEntries(fields.map((field) => [field, value])),
      lines: fields.map((field) => [field, value]),
      replay: { name: 'r'.repeat(63), mode: 'repair', notify: true },
    });
    const attributes = 4 * MAX_ATTRIBUTE_LENGTH;
    expect(Buffer.byteLength(message) + attributes).toBeLessThan(SNS_LIMIT_BYTES);
  });
});

describe('a published notification', () => {
  let aws: TestAws;
  beforeAll(async () => {
    aws = await startTestAws();
  });
  afterAll(() => aws.close());

  const notification: Notification = {
    event: 'girl.schedule_changed',
    eventId: 'e-1',
    timestamp: '2026-01-31T09:00:00.000000000Z',
    data: { shop_id: 'shop-1' },
    replay: undefined,
    title: 'Schedule changed',
    lines: [['Shop', 'shop-1']],
  };

  test('has the attributes that subscriptions filter by', async () => {
    const queues = new Queues(aws.operator);
    const queue = await queues.subscribe(aws.outputs.ChatTopicArn, 'chat-room');
    const published = publish(new SNSClient(aws.operator), aws.outputs.ChatTopicArn ?? '', notification);
    await expect(published).resolves.toBe('Processed');
    const { Body, MessageAttributes } = await queues.take(queue);
    expect(JSON.parse(Body ?? '')).toMatchObject({ title: 'Schedule changed', data: { shop_id: 'shop-1' } });
    expect(MessageAttributes).toMatchObject({
      event: { StringValue: 'girl.schedule_changed' },
      eventId: { StringValue: 'e-1' },
      shop_id: { StringValue: 'shop-1' },
    });
    expect(MessageAttributes).not.toHaveProperty('replay');
  });

  test('of a replay has its name as an attribute', async () => {
    const queues = new Queues(aws.operator);
    const queue = await queues.subscribe(aws.outputs.ReviewTopicArn, 'reviewers');
    await publish(new SNSClient(aws.operator), aws.outputs.ReviewTopicArn ?? '', {
      ...notification,
      replay: { name: 'mend', mode: 'repair', notify: true },
    });
    const { MessageAttributes } = await queues.take(queue);
    expect(MessageAttributes).toMatchObject({ replay: { StringValue: 'mend' } });
  });
});
