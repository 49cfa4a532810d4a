import { CreateTopicCommand, PublishBatchCommand, PublishCommand } from '@aws-sdk/client-sns';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../aws/endpoint.ts';
import { clientsOf, startEndpoint } from './support.ts';

let endpoint: AwsEndpoint;
let sns: ReturnType<typeof clientsOf>['sns'];
let TopicArn: string | undefined;
beforeAll(async () => {
  endpoint = await startEndpoint();
  sns = clientsOf(endpoint).sns;
  ({ TopicArn } = await sns.send(new CreateTopicCommand({ Name: 'reviews' })));
});
afterAll(() => endpoint.close());

/** Sources: Amazon SNS API reference, `Publish`; developer guide, "Message attribute data types and validation". */
describe.each([
  {
    part: 'subject',
    of: (Subject: string) => ({ Subject }),
    taken: ['Review posted', '花子 🌸', 'x'.repeat(99)],
    refused: ['x'.repeat(100), 'a\nb', 'a\u2028b', 'a\tb', ''],
  },
  {
    part: 'attribute',
    of: (StringValue: string) => ({ MessageAttributes: { shop_id: { DataType: 'String', StringValue } } }),
    taken: ['花子', 'shop "1"\\', 'x'.repeat(2048)],
    refused: ['shop-🌸', 'shop-𠮷', 'shop\t1', 'shop\n1', ''],
  },
])('a message whose $part', ({ of, taken, refused }) => {
  const publish = (text: string) => sns.send(new PublishCommand({ TopicArn, Message: 'm', ...of(text) }));
  const publishBatch = (text: string) =>
    sns.send(
      new PublishBatchCommand({
        TopicArn,
        PublishBatchRequestEntries: [{ Id: 'a', Message: 'm', ...of(text) }],
      }),
    );

  test.each(taken)('is %j is published', async (text) => {
    for (const send of [publish, publishBatch]) await expect(send(text)).resolves.toBeDefined();
  });

  test.each(refused)('is %j is refused', async (text) => {
    for (const send of [publish, publishBatch]) {
      await expect(send(text)).rejects.toMatchObject({ name: 'InvalidParameterException' });
    }
  });
});
