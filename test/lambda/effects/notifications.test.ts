import { SNSClient } from '@aws-sdk/client-sns';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { notificationMessage } from '../../../lambda/effects/notification-text.ts';
import { type Notification, Notifications } from '../../../lambda/effects/notifications.ts';
import { Queues } from '../../support/queues.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

describe('the message of a notification', () => {
  const message = (lines: [string, string | undefined][]) => {
    const { default: text, https } = JSON.parse(notificationMessage({ title: 'Review posted', lines }));
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

describe('a published notification', () => {
  let aws: TestAws;
  beforeAll(async () => {
    aws = await startTestAws();
  });
  afterAll(() => aws.close());

  const notification: Notification = {
    event: 'girl.schedule_changed',
    eventId: 'e-1',
    shopId: 'shop-1',
    replay: undefined,
    title: 'Schedule changed',
    lines: [['Shop', 'shop-1']],
  };

  test('has the attributes that subscriptions filter by', async () => {
    const queues = new Queues(aws.operator);
    const queue = await queues.subscribe(aws.outputs.ChatTopicArn, 'chat-room');
    const chat = new Notifications(new SNSClient(aws.operator), aws.outputs.ChatTopicArn ?? '');
    await expect(chat.send(notification)).resolves.toBe('Processed');
    const { Body, MessageAttributes } = await queues.take(queue);
    expect(Body).toBe('Schedule changed\n\nShop: shop-1');
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
    const review = new Notifications(new SNSClient(aws.operator), aws.outputs.ReviewTopicArn ?? '');
    await review.send({ ...notification, replay: { name: 'mend', mode: 'repair', notify: true } });
    const { MessageAttributes } = await queues.take(queue);
    expect(MessageAttributes).toMatchObject({ replay: { StringValue: 'mend' } });
  });
});
