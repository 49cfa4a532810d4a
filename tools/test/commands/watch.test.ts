import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { LOCAL_SECRET } from '../../../events/signing.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { Partner } from '../../../test/support/partner.ts';
import { Tables } from '../../../test/support/tables.ts';
import type { FunctionDefinition } from '../../local/functions/function-definition.ts';
import { Project, type Running } from './project.ts';

const CONSUMER = 'lambda/events/shop-updated/consumer.ts';
/** A file that the consumers of girl.created and girl.deleted import. */
const SHARED = 'lambda/effects/cast.ts';
const PIPELINE = 'lib/pipeline/event-pipeline.ts';
/** The list of events. */
const INDEX = 'lambda/events/index.ts';

/** Appears only when the types were checked as well. */
const FIXED = /^Fixed: all saved code builds/m;

let project: Project;
let stack: Running;
let tables: Tables;
let queues: SQSClient;

beforeAll(async () => {
  // Copied, because imports through a symbolic link would load the original files.
  const code = ['bin', 'events', 'lambda', 'lib', 'local', 'test', 'tools', 'docs', 'README.md'];
  project = await Project.create({ copied: [...code, 'cdk.json'] });
  // A project without sources, because a type check follows each save and takes seconds.
  const types = { compilerOptions: { lib: ['es5'], types: [] }, files: ['nothing.ts'] };
  await writeFile(project.path('tools/watch/tsconfig.sources.json'), JSON.stringify(types));
  await writeFile(project.path('tools/watch/nothing.ts'), '');
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

/** Original text of the files that a test has changed, by path. */
const originals = new Map<string, string>();

async function replace(file: string, text: string, replacement: string): Promise<void> {
  const source = await readFile(project.path(file), 'utf8');
  if (!originals.has(file)) originals.set(file, source);
  if (!source.includes(text)) throw new Error(`${file} has no ${text}`);
  await writeFile(project.path(file), source.replace(text, replacement));
}

/**
 * Restores all changed files.
 * @param line which the stack must print afterwards
 */
async function putBack(line: RegExp): Promise<void> {
  before = stack.stdout().length;
  for (const [file, source] of originals) await writeFile(project.path(file), source);
  originals.clear();
  await saying(line);
  before = stack.stdout().length;
}

afterEach(() => {
  expect([...originals.keys()]).toEqual([]);
});

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

const writing = (...fields: string[]) =>
  ['shopId, updatedFields }', `shopId, updatedFields: ${JSON.stringify(fields)} }`] as const;

// Takes 6 s: two rebuilds, each followed by a delivery.
test('a saved consumer is rebuilt alone, takes the next message, and finds the state as it was', async () => {
  const { shop_id, ...row } = await updateShop();
  const folders = functions();
  await replace(CONSUMER, ...writing('by-new-code'));
  const [line] = await saying(/^.*Rebuilt .*$/m);
  expect(line).toMatch(/^Rebuilt shop\.updated in [\d.]+ m?s$/);
  expect(await updateShop()).toMatchObject({ updated_fields: ['by-new-code'] });
  expect(await tables.get(outputs().ShopCacheTable, { shop_id: String(shop_id) })).toMatchObject(row);
  const changed = Object.entries(functions()).filter(
    ([service, { codeDirectory }]) => codeDirectory !== folders[service]?.codeDirectory,
  );
  expect(changed.map(([service]) => service)).toEqual(['shop-updated']);
  await putBack(/^Rebuilt shop\.updated in/m);
});

test('code that cannot be loaded is reported with file and line, and the last good code keeps running', async () => {
  const text = "throw new Error('no such shop');\n";
  await replace(CONSUMER, 'export const handler', `${text}export const handler`);
  await saying(/The last good code keeps running/);
  expect(said()).toContain(
    'shop.updated cannot be loaded: Error: no such shop\n    at lambda/events/shop-updated/consumer.ts:6',
  );
  expect(await updateShop()).toMatchObject({ updated_fields: ['name'] });
  await putBack(FIXED);
});

test('an error in a file that functions share is reported once, and its fix rebuilds them', async () => {
  const call = "import { gone } from './gone.ts';\ngone();\nexport class Cast";
  await replace(SHARED, 'export class Cast', call);
  await saying(/The last good code keeps running/);
  expect(said().match(/✘ \[ERROR\]/g)).toHaveLength(1);
  expect(said()).toMatch(/lambda\/effects\/cast\.ts:\d+:\d+:/);
  // The missing file is in no bundle yet.
  const gone = project.path('lambda/effects/gone.ts');
  await writeFile(gone, "export const gone = () => console.log('by new code');\n");
  await saying(/^Rebuilt girl\.created and girl\.deleted in/m);
  expect((await project.type(['invoke', 'girl.created'])).stderr).toContain('by new code');
  await putBack(/^Rebuilt girl\.created and girl\.deleted in/m);
  await rm(gone);
});

/** The console's notices, as a page receives them when it opens. */
async function consoleNotices(): Promise<string> {
  const { url } = JSON.parse(readFileSync(project.path('.local/console.json'), 'utf8'));
  const stream = await fetch(new URL('/api/stream', url));
  let text = '';
  for await (const chunk of stream.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes('event: notice')) break;
  }
  return text;
}

/** Adds an event. Meanwhile other sources are broken, so that the stack restarts only once. */
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

// Takes 10 s: several syntheses, of which only the last one succeeds.
test('a stack that cannot be synthesised stays as it was, and its fix restarts it, empty, with new events, on the same ports', async () => {
  const key = { shop_id: String((await updateShop()).shop_id) };
  await replace(PIPELINE, 'maxReceiveCount: MAX_RECEIVES', 'maxReceiveCount: ');
  await saying(/The stack keeps running unchanged/);
  expect(said()).toMatch(/lib\/pipeline\/event-pipeline\.ts:\d+:\d+:/);
  expect(await tables.get(outputs().ShopCacheTable, key)).toBeDefined();

  const earlier = outputs();
  await replace(PIPELINE, 'Duration.seconds(EVENT_RETENTION_SECONDS)', 'Duration.days(6)');
  await addEvent();
  await replace(PIPELINE, 'maxReceiveCount: ', 'maxReceiveCount: MAX_RECEIVES');
  await saying(/^.* changed\. The stack restarted, empty, in [\d.]+ m?s$/m);
  expect(await consoleNotices()).toContain('The stack restarted, empty');
  expect(outputs()).toMatchObject({ ...earlier, WebhookSecretArn: expect.any(String) });
  const attributes = { QueueUrl: outputs().ShopUpdatedQueueUrl, AttributeNames: ['All' as const] };
  const { Attributes } = await queues.send(new GetQueueAttributesCommand(attributes));
  expect(Attributes?.MessageRetentionPeriod).toBe('518400');
  expect(await tables.get(outputs().ShopCacheTable, key)).toBeUndefined();
  const shop = { shop_id: randomUUID() };
  expect(await post({ event: 'shop.closed', data: shop, timestamp })).toMatchObject({ status: 200 });
  await eventually(() => tables.get(outputs().ShopCacheTable, shop));
  originals.clear();
});

// Takes 6 s: starts a second stack.
test('with --no-watch a saved consumer is not rebuilt', async () => {
  const other = await project.startStack('--no-watch', '--port', '0', '--aws-port', '0');
  before = stack.stdout().length;
  await replace(CONSUMER, 'export const handler', "console.log('by new code');\nexport const handler");
  await saying(/^Rebuilt shop\.updated in/m);
  expect(await project.type(['send', 'shop.updated', '--wait'])).toMatchObject({ code: 0 });
  other.interrupt();
  await other.ended;
  expect(other.stdout()).toMatch(/ shop-updated +INFO/);
  expect(other.stdout()).not.toMatch(/by new code|Rebuilt/);
  await putBack(/^Rebuilt shop\.updated in/m);
});
