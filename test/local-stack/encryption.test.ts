import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { LocalStack } from '../../local/local-stack.ts';
import { stageAssembly } from '../lib/stage-assembly.ts';
import { ArchiveBucket } from '../support/archive.ts';
import { eventually } from '../support/eventually.ts';
import { Partner } from '../support/partner.ts';
import { Tables } from '../support/tables.ts';
import { startTestStack } from '../support/test-stack.ts';

let stack: LocalStack;
const problems: string[] = [];
beforeAll(async () => {
  stack = await startTestStack({
    assembly: await stageAssembly('encrypted'),
    onProblem: (problem) => problems.push(problem),
  });
});
afterAll(() => stack.close());

test('a stage with a key for everything runs here, and a delivery has its effect and is archived', async () => {
  const event = {
    event: 'shop.updated',
    data: { shop_id: 'shop-under-key' },
    timestamp: '2026-01-31T09:00:00Z',
  };
  const { status } = await new Partner(stack.outputs.WebhookUrl).post(event);
  expect(status).toBe(200);
  const tables = new Tables(stack.operator);
  const row = await eventually(() =>
    tables.get(stack.outputs.ShopCacheTable, { shop_id: event.data.shop_id }),
  );
  expect(row).toMatchObject({ shop_id: event.data.shop_id });
  const archive = new ArchiveBucket(stack.outputs.ArchiveBucket, stack.operator);
  const records = await eventually(async () => {
    const found = await archive.records();
    return found.length > 0 ? found : undefined;
  });
  expect(records).toMatchObject([{ event: 'shop.updated', outcome: 'Processed', attempt: 1 }]);
  expect(problems).toEqual([]);
});
