import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { join, resolve } from 'node:path';
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readCloudAssembly } from 'local-aws/cloud-assembly';
import { stageOverrides } from '../../../bin/synthesise.ts';
import { sqsEvent } from '../../../events/samples.ts';
import { LOCAL_SECRET } from '../../../events/signing.ts';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { Partner } from '../../../test/support/partner.ts';
import { Tables } from '../../../test/support/tables.ts';
import { sharedAssembly } from '../../../test/support/test-assembly.ts';
import { freePort, Project, type Running, refusal } from './project.ts';

const CONSUMER = 'lambda/events/shop-updated/consumer.ts';
/** A line in the consumer of shop.updated. */
const CALL = 'invalidateShop({';
/** A line that a consumer cannot be loaded with. */
const BROKEN = "throw new Error('no such shop');\n";
const timestamp = '2026-01-31T09:00:00Z';

let project: Project;
let stack: Running;
let assembly: string;
let ports: { readonly port: number; readonly awsPort: number; readonly inspectPort: number };
let tables: Tables;
let queues: SQSClient;

// One stack for all tests, because a start takes seconds.
beforeAll(async () => {
  // Copied, because imports through a link would load the original files.
  project = await Project.create('bin', 'events', 'lambda', 'lib', 'tools', 'cdk.json');
  const rest = stageOverrides({ gateway: 'rest' });
  assembly = await sharedAssembly('rest', rest, false);
  await project.cacheAssembly(assembly, rest);
  ports = { port: await freePort(), awsPort: await freePort(), inspectPort: await freePort() };
  stack = await project.startStack(
    ...['--port', String(ports.port), '--aws-port', String(ports.awsPort), '--gateway', 'rest'],
    ...['--inspect', `shop.updated:${ports.inspectPort}`, '--retry-fast'],
  );
  const settings = {
    endpoint: `http://localhost:${ports.awsPort}`,
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

const read = (file: string) => JSON.parse(readFileSync(project.path(file), 'utf8'));
const outputs = () => Object.values<Record<string, string>>(read('.local/outputs.json'))[0] ?? {};

const post = (event: object) => new Partner(outputs().WebhookUrl).post(event, { secret: LOCAL_SECRET });

/**
 * Posts an event of a new shop.
 * @returns the shop's item
 */
async function updateShop(): Promise<Record<string, unknown>> {
  const shopId = randomUUID();
  const data = { shop_id: shopId, updated_fields: ['name'] };
  expect(await post({ event: 'shop.updated', data, timestamp })).toMatchObject({ status: 200 });
  return eventually(() => tables.get(outputs().ShopCacheTable, { shop_id: shopId }));
}

async function replace(file: string, text: string, replacement: string): Promise<void> {
  const source = await readFile(project.path(file), 'utf8');
  if (!source.includes(text)) throw new Error(`${file} has no ${text}`);
  await writeFile(project.path(file), source.replace(text, replacement));
}

describe('a running stack', () => {
  test('prints its addresses, the port of the debugger alone, and that retries are fast', () => {
    const printed = stack.stdout();
    expect(printed).toContain(`http://localhost:${ports.port}/api/v1/webhooks/partner`);
    expect(printed).toContain(`http://localhost:${ports.awsPort}`);
    expect(printed).toContain(`Debug shop.updated at 127.0.0.1:${ports.inspectPort}:`);
    // Each execution environment has a port of its own behind it.
    const debuggers = `${printed}${stack.stderr()}`.matchAll(/127\.0\.0\.1:(\d+)/g);
    expect(new Set([...debuggers].map(([, digits]) => Number(digits)))).toEqual(new Set([ports.inspectPort]));
    expect(printed).toContain('Retries are fast:');
  });

  test('writes its outputs like `cdk deploy --outputs-file`', () => {
    const { name, template } = readCloudAssembly(assembly);
    const texts = Object.keys(template.Outputs).map((output) => [output, expect.any(String)]);
    expect(read('.local/outputs.json')).toEqual({ [name]: Object.fromEntries(texts) });
  });

  test('has the gateway that was asked for', async () => {
    const { headers } = await fetch(String(outputs().WebhookUrl), { method: 'POST' });
    expect(headers.has('x-amz-apigw-id')).toBe(true);
  });

  test('has a console, whose address and token only its owner can read', async () => {
    const { url, token } = read('.local/console.json');
    // At least 192 random bits, in base64url.
    expect(token).toMatch(/^[\w-]{32,}$/);
    expect(stack.stdout()).toContain(`  Console   ${url}\n  Webhook   `);
    expect(statSync(project.path('.local/console.json')).mode & 0o777).toBe(0o600);
    const page = await fetch(url);
    expect(page.headers.get('set-cookie')).toContain(`=${token};`);
  });

  test('shows each request', async () => {
    await project.type(['send', 'user.updated']);
    await saying(/ 200 +POST \/api\/v1\/webhooks\/partner/);
  });
});

describe('invoke', () => {
  test('gives the receiver a sample, signed with the local secret', async () => {
    const { code, stdout } = await project.type(['invoke', 'receiver', 'user.updated']);
    expect({ code, result: JSON.parse(stdout) }).toEqual({
      code: 0,
      result: expect.objectContaining({ statusCode: 200 }),
    });
  });

  test('uses the sample of a consumer by default', async () => {
    const { code, stdout } = await project.type(['invoke', 'girl.created']);
    expect({ code, result: JSON.parse(stdout) }).toEqual({ code: 0, result: { batchItemFailures: [] } });
  });

  test('shows the error of a handler, and nothing else', async () => {
    const file = project.path('no-event.json');
    const { Records } = sqsEvent({
      event: 'girl.created',
      name: 'girl-created',
      payload: { timestamp: '2026-01-31T09:00:00Z' },
    });
    // The key of another event's payload, which the consumer may not read. So the attempt fails and is retried.
    const payloadKey = { dataType: 'String', stringValue: 'another.event/none' } as const;
    Object.assign(Records[0]?.messageAttributes ?? {}, { payloadKey });
    await writeFile(file, JSON.stringify({ Records }));
    const { stdout, stderr } = await project.type(['invoke', 'girl.created', file]);
    expect(JSON.parse(stdout).batchItemFailures).toHaveLength(1);
    expect(stderr).toContain('Failed');
    expect(stderr).not.toContain('RetryNotDelayed');
  });

  const functions = [...eventNames, 'receiver', 'smoke-test'].join(', ');
  test.each([
    { args: ['receiver'], line: `Which event for receiver? A file, or one of: ${eventNames.join(', ')}` },
    {
      args: ['shop.updatd'],
      line: `No function 'shop.updatd'. Did you mean shop.updated? One of: ${functions}`,
    },
    { args: ['receiver', 'LICENSE'], line: 'LICENSE is not JSON', code: 1 },
  ])('refuses $args in one line', async ({ args, line, code = 2 }) => {
    expect(await project.type(['invoke', ...args])).toEqual(refusal(line, code));
  });
});

// These tests continue with the sources of the test before, because each rebuild takes a second of processor time.
describe('saved code', () => {
  const codeOfFunctions = () =>
    Object.entries<{ codeDirectory: string }>(read('.local/functions.json')).map(
      ([service, { codeDirectory }]) => `${service} ${codeDirectory}`,
    );

  test('of a consumer is rebuilt alone, takes the next message, and finds the state as it was', async () => {
    const { shop_id, ...row } = await updateShop();
    const earlier = codeOfFunctions();
    await replace(CONSUMER, 'shopId, updatedFields }', "shopId, updatedFields: ['by-new-code'] }");
    await saying(/^Rebuilt shop\.updated in [\d.]+ m?s$/m);
    expect(await updateShop()).toMatchObject({ updated_fields: ['by-new-code'] });
    expect(await tables.get(outputs().ShopCacheTable, { shop_id: String(shop_id) })).toMatchObject(row);
    const changed = codeOfFunctions().filter((each) => !earlier.includes(each));
    expect(changed).toEqual([expect.stringMatching(/^shop-updated /)]);
  });

  test('that cannot be loaded is reported with file and line, and the last good code keeps running', async () => {
    await replace(CONSUMER, 'export const handler', `${BROKEN}export const handler`);
    await saying(/The last good code keeps running/);
    expect(said()).toContain(`shop.updated cannot be loaded: Error: no such shop\n    at ${CONSUMER}:6`);
    expect(await updateShop()).toMatchObject({ updated_fields: ['by-new-code'] });
  });

  test('that does not build is reported with its place, and its correction is used', async () => {
    await replace(CONSUMER, BROKEN, 'const cast = { girl: };\n');
    await saying(/The last good code keeps running/);
    expect(said()).toContain(`${CONSUMER}:6:21:`);
    await replace(CONSUMER, 'const cast = { girl: };\n', '');
    await saying(/^Rebuilt shop\.updated in/m);
  });

  test('is readable for a debugger: it has a port, and a map to the sources', async () => {
    const targets = await fetch(`http://127.0.0.1:${ports.inspectPort}/json`);
    expect(await targets.json()).toEqual([
      expect.objectContaining({ webSocketDebuggerUrl: expect.any(String) }),
    ]);
    const folder = resolve(project.path('.'), read('.local/functions.json')['shop-updated'].codeDirectory);
    const code = readFileSync(join(folder, 'index.mjs'), 'utf8');
    expect(code).toMatch(/\/\/# sourceMappingURL=index\.mjs\.map\n$/);
    const before = code.slice(0, code.lastIndexOf(CALL)).split('\n');
    const map = new SourceMap(JSON.parse(readFileSync(join(folder, 'index.mjs.map'), 'utf8')));
    const origin = map.findEntry(before.length - 1, before.at(-1)?.length ?? 0);
    expect(origin).toHaveProperty('originalSource', expect.stringContaining(CONSUMER));
    const { originalLine = -1 } = origin as { originalLine?: number };
    expect(readFileSync(CONSUMER, 'utf8').split('\n')[originalLine]).toContain(CALL);
  });
});

/** Adds an event that does what shop.updated does. */
async function addEvent(): Promise<void> {
  const added = project.path('lambda/events/shop-closed');
  await cp(project.path('lambda/events/shop-updated'), added, { recursive: true });
  const consumer = await readFile(`${added}/consumer.ts`, 'utf8');
  await writeFile(`${added}/consumer.ts`, consumer.replace('shop.updated', 'shop.closed'));
  const imported = "import { event as shopClosed } from './shop-closed/event.ts';\n";
  await replace(
    'lambda/events/index.ts',
    'export const events = {\n',
    `${imported}export const events = { 'shop.closed': shopClosed,\n`,
  );
}

// Takes 10 s: a synthesis, and a start.
test('another change is named; r restarts the stack, empty, with new events, on the same ports', async () => {
  const key = { shop_id: String((await updateShop()).shop_id) };
  await replace(
    'lib/pipeline/event-pipeline.ts',
    'Duration.seconds(EVENT_RETENTION_SECONDS)',
    'Duration.days(6)',
  );
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

test('Ctrl-C ends the stack', async () => {
  // A terminal and npm both send the signal of one Ctrl-C. A later one could meet a process that has almost ended.
  stack.interrupt();
  stack.interrupt();
  expect(await stack.ended).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('\nStopping …\n'),
  });
});

test('the stack ends with the npm that started it, also if npm passes on no signal', async () => {
  const other = await Project.create();
  await other.cacheAssembly();
  const tunnel = ['--public-host', 'abc.example', '--secret', `own-${LOCAL_SECRET}`];
  const options = ['--no-watch', '--port', '0', '--aws-port', '0', ...tunnel];
  const npm = other.spawn(['npm', 'start', '--', ...options]);
  await eventually(async () => npm.stdout().includes('Ready in') || undefined);
  expect(npm.stdout()).toMatch(/ https:\/\/abc\.example\/api\/v1\/webhooks\/partner\n {2}Secret {4}own-/);
  npm.process.kill('SIGHUP');
  // Its output stays open until the stack has ended.
  expect((await npm.ended).stdout).toMatch(/\nStopping …\n/);
  await other.remove();
});
