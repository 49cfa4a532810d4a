import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { FunctionDefinition } from 'local-aws/functions';
import { LOCAL_SECRET } from '../../../events/signing.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { Partner } from '../../../test/support/partner.ts';
import { Tables } from '../../../test/support/tables.ts';
import { Project, type Running } from './project.ts';

const CONSUMER = 'lambda/events/shop-updated/consumer.ts';
const PIPELINE = 'lib/pipeline/event-pipeline.ts';
/** A line that a consumer cannot be loaded with. */
const BROKEN = "throw new Error('no such shop');\n";
/** The list of events. */
const INDEX = 'lambda/events/index.ts';

let project: Project;
let stack: Running;
let tables: Tables;
let queues: SQSClient;

beforeAll(async () => {
  // Copied, because imports through a link would load the original files.
  project = await Project.create({ copied: ['bin', 'events', 'lambda', 'lib', 'tools', 'cdk.json'] });
  await project.cacheAssembly();
  stack = await project.startStack('--port', '0', '--aws-port', '0');
  const settings = {
    endpoint: new URL(outputs().ShopUpdatedQueueUrl ?? '').origin,
    region: 'us-east-1',
    credentials: { accessKeyId: 'operator', secretAccessKey: 'local' },
  };
  tables = new Tables(settings);
  queues = new SQSClient(settings);
});

afterAll(async () => {
  stack?.interrupt();
  await stack?.ended;
  tables?.client.destroy();
  queues?.destroy();
  await project?.remove();
});

/** Length of the stack's output when the test began. */
let before: number;
beforeEach(() => {
  before = stack.stdout().length;
});

const said = () => stack.stdout().slice(before);

async function saying(line: RegExp): Promise<RegExpMatchArray> {
  return eventually(async () => said().match(line) ?? undefined).catch(() => {
    throw new Error(`It did not print ${line}, but: ${said()}`);
  });
}

async function replace(file: string, text: string, replacement: string): Promise<void> {
  const source = await readFile(project.path(file), 'utf8');
  if (!source.includes(text)) throw new Error(`${file} has no ${text}`);
  await writeFile(project.path(file), source.replace(text, replacement));
}

const outputs = () =>
  Object.values(
    JSON.parse(readFileSync(project.path('.local/outputs.json'), 'utf8')) as Record<
      string,
      Record<string, string>
    >,
  )[0] ?? {};
const functions = (): Record<string, FunctionDefinition> =>
  JSON.parse(readFileSync(project.path('.local/functions.json'), 'utf8'));

const timestamp = '2026-01-31T09:00:00Z';

const post = (event: object) => new Partner(outputs().WebhookUrl).post(event, { secret: LOCAL_SECRET });

/**
 * Posts an event of a new shop.
 * @returns the shop's item
 */
async function updateShop(): Promise<Record<string, unknown>> {
  const shopId = randomUUID();
  const data = { shop_id: shopId, updated_fields: ['name'] };
  const { status } = await post({ event: 'shop.updated', data, timestamp });
  expect(status).toBe(200);
  return eventually(() => tables.get(outputs().ShopCacheTable, { shop_id: shopId }));
}

// These tests continue with the sources of the test before, because each rebuild takes a second of processor time.
test('a saved consumer is rebuilt alone, takes the next message, and finds the state as it was', async () => {
  const { shop_id, ...row } = await updateShop();
  const folders = functions();
  await replace(CONSUMER, 'shopId, updatedFields }', "shopId, updatedFields: ['by-new-code'] }");
  const [line] = await saying(/^.*Rebuilt .*$/m);
  expect(line).toMatch(/^Rebuilt shop\.updated in [\d.]+ m?s$/);
  expect(await updateShop()).toMatchObject({ updated_fields: ['by-new-code'] });
  expect(await tables.get(outputs().ShopCacheTable, { shop_id: String(shop_id) })).toMatchObject(row);
  const changed = Object.entries(functions()).filter(
    ([service, { codeDirectory }]) => codeDirectory !== folders[service]?.codeDirectory,
  );
  expect(changed.map(([service]) => service)).toEqual(['shop-updated']);
});

test('code that cannot be loaded is reported with file and line, and the last good code keeps running', async () => {
  await replace(CONSUMER, 'export const handler', `${BROKEN}export const handler`);
  await saying(/The last good code keeps running/);
  expect(said()).toContain(
    'shop.updated cannot be loaded: Error: no such shop\n    at lambda/events/shop-updated/consumer.ts:6',
  );
  expect(await updateShop()).toMatchObject({ updated_fields: ['by-new-code'] });
});

/** Adds an event that does what shop.updated does. */
async function addEvent(): Promise<void> {
  const added = project.path('lambda/events/shop-closed');
  await cp(project.path('lambda/events/shop-updated'), added, { recursive: true });
  const consumer = await readFile(`${added}/consumer.ts`, 'utf8');
  await writeFile(`${added}/consumer.ts`, consumer.replace('shop.updated', 'shop.closed'));
  const imported = "import { event as shopClosed } from './shop-closed/event.ts';\n";
  await replace(
    INDEX,
    'export const events = {\n',
    `${imported}export const events = { 'shop.closed': shopClosed,\n`,
  );
}

test('code that does not build is reported with its place, and its correction is used', async () => {
  await replace(CONSUMER, BROKEN, 'const cast = { girl: };\n');
  await saying(/The last good code keeps running/);
  expect(said()).toContain('lambda/events/shop-updated/consumer.ts:6:21:');
  await replace(CONSUMER, 'const cast = { girl: };\n', '');
  await saying(/^Rebuilt shop\.updated in/m);
});

// Takes 10 s: a synthesis, and a start.
test('another change is named; r restarts the stack, empty, with new events, on the same ports', async () => {
  const key = { shop_id: String((await updateShop()).shop_id) };
  await replace(PIPELINE, 'Duration.seconds(EVENT_RETENTION_SECONDS)', 'Duration.days(6)');
  await saying(
    /^lib\/pipeline\/event-pipeline\.ts changed\. To restart the stack, empty, type r and press Enter$/m,
  );
  await addEvent();
  await saying(/^lambda\/events\/index\.ts.* changed\. To restart/m);
  expect(await tables.get(outputs().ShopCacheTable, key)).toBeDefined();

  const earlier = outputs();
  stack.process.stdin?.write('r\n');
  await saying(/^Restarting the stack, empty …$(.|\n)*^Ready in /m);
  expect(outputs()).toMatchObject({ ...earlier, WebhookSecretArn: expect.any(String) });
  const attributes = { QueueUrl: outputs().ShopUpdatedQueueUrl, AttributeNames: ['All' as const] };
  const { Attributes } = await queues.send(new GetQueueAttributesCommand(attributes));
  expect(Attributes?.MessageRetentionPeriod).toBe('518400');
  expect(await tables.get(outputs().ShopCacheTable, key)).toBeUndefined();
  const shop = { shop_id: randomUUID() };
  expect(await post({ event: 'shop.closed', data: shop, timestamp })).toMatchObject({ status: 200 });
  await eventually(() => tables.get(outputs().ShopCacheTable, shop));
});
