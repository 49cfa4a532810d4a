import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PayloadStore } from '../../../lambda/queue/payload-store.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

let aws: TestAws;
let store: PayloadStore;
beforeAll(async () => {
  aws = await startTestAws();
  const client = new S3Client({ ...aws.operator, forcePathStyle: true });
  store = new PayloadStore(client, aws.outputs.PayloadBucket ?? '');
});
afterAll(() => aws.close());

test.each([
  ['what is not text', Buffer.from([0x00, 0xff, 0x0d, 0x0a])],
  ['nothing', Buffer.alloc(0)],
])('a payload comes back byte for byte, also %s', async (name, payload) => {
  await store.put(`shop.updated/${name}`, payload);
  expect(Buffer.from(await store.get(`shop.updated/${name}`))).toEqual(payload);
});

test('a payload that is not there any more is said to be gone by its name', async () => {
  await expect(store.get('shop.updated/none')).rejects.toThrow(
    expect.objectContaining({ name: 'NoSuchKey' }),
  );
});
