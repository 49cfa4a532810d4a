import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { functionEnvironment } from '../../support/function-environment.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

let aws: TestAws;
let store: typeof import('../../../lambda/queue/payload-store.ts');
beforeAll(async () => {
  aws = await startTestAws();
  Object.assign(process.env, functionEnvironment('receiver', aws));
  store = await import('../../../lambda/queue/payload-store.ts');
});
afterAll(() => aws.close());

test.each([
  ['what is not text', Buffer.from([0x00, 0xff, 0x0d, 0x0a])],
  ['nothing', Buffer.alloc(0)],
])('a payload comes back byte for byte, also %s', async (name, payload) => {
  await store.putPayload(`shop.updated/${name}`, payload);
  expect(Buffer.from(await store.getPayload(`shop.updated/${name}`))).toEqual(payload);
});

test('a payload that is not there any more is said to be gone by its name', async () => {
  await expect(store.getPayload('shop.updated/none')).rejects.toThrow(
    expect.objectContaining({ name: 'NoSuchKey' }),
  );
});
