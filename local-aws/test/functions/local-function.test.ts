import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';
import { InspectorPort } from '../../functions/inspector-port.ts';
import type { FunctionDefinition, FunctionLogLine } from '../../functions/invocation.ts';
import { LocalFunction } from '../../functions/local-function.ts';
import { eventually } from '../support.ts';

const fixtures = fileURLToPath(new URL('./fixtures', import.meta.url));
const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

function start(definition: Partial<FunctionDefinition> & { handler: string }, inspector?: InspectorPort) {
  const lines: FunctionLogLine[] = [];
  const local = new LocalFunction(
    {
      name: 'shop-updated',
      codeDirectory: fixtures,
      environment: {},
      timeoutSeconds: 20,
      memoryMegabytes: 128,
      maximumConcurrency: 1,
      credentials: { accessKeyId: 'AKIALOCAL', secretAccessKey: 'local-key' },
      awsEndpointUrl: 'http://localhost:4566',
      ...definition,
    },
    (line) => lines.push(line),
    inspector,
  );
  cleanUps.push(() => local.close());
  return { local, lines };
}

async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'local-function-'));
  cleanUps.push(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

const texts = (lines: FunctionLogLine[], stream: FunctionLogLine['stream']) =>
  lines.filter((line) => line.stream === stream).map((line) => line.text);

interface Identified {
  environmentId: number;
  started: number;
  ended: number;
  order: number;
}

async function identify(local: LocalFunction, payload: object): Promise<Identified> {
  const result = await local.invoke(payload);
  if (!result.ok) throw new Error(result.errorMessage);
  return result.payload as Identified;
}

describe('input and output', () => {
  test.each([
    { given: { at: new Date(0), gone: undefined }, expected: { at: '1970-01-01T00:00:00.000Z' } },
    { given: '\ud800', expected: '\ud800' },
    { given: undefined, expected: null },
  ])('$given passes through JSON', async ({ given, expected }) => {
    const { local } = start({ handler: 'index.echo' });
    expect(await local.invoke(given)).toMatchObject({ ok: true, payload: expected });
  });

  test('the context describes the function and the invocation', async () => {
    const { local } = start({ handler: 'index.context' });
    const { requestId, ...result } = await local.invoke({});
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(result).toMatchObject({
      ok: true,
      payload: {
        awsRequestId: requestId,
        functionName: 'shop-updated',
        functionVersion: '$LATEST',
        invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:shop-updated',
        memoryLimitInMB: '128',
        logGroupName: '/aws/lambda/shop-updated',
        logStreamName: expect.stringMatching(/^\d{4}\/\d\d\/\d\d\/\[\$LATEST\][0-9a-f]{32}$/),
        callbackWaitsForEmptyEventLoop: true,
        remaining: expect.any(Number),
      },
    });
    const { remaining } = (result as unknown as { payload: { remaining: number } }).payload;
    expect(remaining).toBeGreaterThan(0);
    expect(remaining).toBeLessThanOrEqual(20_000);
  });

  test.each([
    ['throws', { errorType: 'RangeError', errorMessage: 'shop 7 is out of range' }],
    ['throwsText', { errorType: 'string', errorMessage: 'just text', trace: [] }],
    ['throwsWithOddStack', { errorType: 'Error', errorMessage: 'odd' }],
    ['circular', { errorType: 'Error', errorMessage: 'Unable to stringify response body' }],
    ['tooLarge', { errorType: 'Function.ResponseSizeTooLarge' }],
  ])('%s fails with a function error, and its environment continues', async (name, error) => {
    const { local, lines } = start({ handler: `index.${name}` });
    expect(await local.invoke({})).toMatchObject({ ok: false, ...error });
    expect(await local.invoke({})).toMatchObject({ ok: false, ...error });
    expect(texts(lines, 'stdout')).toEqual(['loading']);
  });

  test('a function error is logged like in Lambda, with what its messages have in common', async () => {
    const { local, lines } = start({ handler: 'index.throws' });
    const Records = ['event-1', 'event-2'].map((eventId) => ({
      messageId: `message of ${eventId}`,
      eventSource: 'aws:sqs',
      attributes: { ApproximateReceiveCount: '2' },
      messageAttributes: { event: { stringValue: 'shop.updated' }, eventId: { stringValue: eventId } },
    }));
    const { requestId } = await local.invoke({ Records });
    const line = lines.find(({ crash }) => crash !== undefined);
    expect(line).toMatchObject({ functionName: 'shop-updated', requestId, stream: 'stderr' });
    expect(JSON.parse(line?.text ?? '')).toEqual({
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      level: 'ERROR',
      service: 'shop-updated',
      requestId,
      event: 'shop.updated',
      messages: 2,
      message: {
        errorType: 'RangeError',
        errorMessage: 'shop 7 is out of range',
        stackTrace: expect.arrayContaining([expect.stringContaining('fixtures/index.mjs')]),
      },
    });
    expect(line?.crash).toEqual({
      error: 'RangeError',
      messages: ['event-1', 'event-2'].map((eventId) => ({
        messageId: `message of ${eventId}`,
        attempt: 2,
        attributes: { event: 'shop.updated', eventId },
      })),
    });
  });
});

test('the variables are those of Lambda and the template, not of the surrounding process', async () => {
  process.env.ONLY_IN_THE_PARENT = 'secret';
  cleanUps.push(async () => {
    delete process.env.ONLY_IN_THE_PARENT;
  });
  const ofTemplate = { TABLE_NAME: 'cast', TZ: 'Asia/Tokyo' };
  const reserved = { AWS_ACCESS_KEY_ID: 'not-the-role', AWS_ENDPOINT_URL: 'https://x' };
  const { local } = start({ handler: 'index.variables', environment: { ...ofTemplate, ...reserved } });
  const result = await local.invoke({});
  expect(result).toMatchObject({
    payload: {
      ...ofTemplate,
      AWS_ACCESS_KEY_ID: 'AKIALOCAL',
      AWS_SECRET_ACCESS_KEY: 'local-key',
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL: 'http://localhost:4566',
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
      AWS_LAMBDA_FUNCTION_NAME: 'shop-updated',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '128',
      AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/shop-updated',
      LAMBDA_TASK_ROOT: fixtures,
      _HANDLER: 'index.variables',
    },
  });
  for (const name of ['ONLY_IN_THE_PARENT', 'AWS_SESSION_TOKEN']) {
    expect(result).not.toHaveProperty(`payload.${name}`);
  }
});

describe('concurrency', () => {
  test('an environment takes one invocation at a time, first come, first served', async () => {
    const { local } = start({ handler: 'index.identify' });
    const runs = await Promise.all(
      [0, 1, 2, 3, 4].map((order) => identify(local, { order, sleepMilliseconds: 20 })),
    );
    expect(new Set(runs.map((run) => run.environmentId)).size).toBe(1);
    runs.sort((a, b) => a.started - b.started);
    expect(runs.map((run) => run.order)).toEqual([0, 1, 2, 3, 4]);
    for (const [index, run] of runs.slice(1).entries()) {
      expect(run.started).toBeGreaterThanOrEqual(runs[index]?.ended ?? 0);
    }
  });

  test('above the reserved concurrency an invocation is refused, not queued', async () => {
    const { local, lines } = start({
      handler: 'index.identify',
      maximumConcurrency: 1,
      reservedConcurrency: 2,
    });
    const taken = [1, 2].map((order) => identify(local, { order, sleepMilliseconds: 200 }));
    await expect(local.invoke({})).rejects.toMatchObject({
      name: 'TooManyRequestsException',
      message: 'Rate Exceeded.',
    });
    expect((await Promise.all(taken)).map((run) => run.order)).toEqual([1, 2]);
    expect(await local.invoke({})).toMatchObject({ ok: true });
    expect(texts(lines, 'stderr')).toEqual([]);
  });

  test('environments start up to the maximum', async () => {
    const { local } = start({ handler: 'index.identify', maximumConcurrency: 3 });
    const runs = [1, 2, 3, 4].map(() => identify(local, {}));
    expect(local.environments).toBe(3);
    await Promise.all(runs);
  });

  test('a warmed-up function has loaded its code before the first invocation, which uses its environment', async () => {
    const { local, lines } = start({ handler: 'index.echo', maximumConcurrency: 5 });
    await local.warmUp();
    expect(lines).toEqual([{ functionName: 'shop-updated', stream: 'stdout', text: 'loading' }]);
    await local.invoke({});
    expect(lines).toHaveLength(1);
  });
});

describe('an environment that dies', () => {
  const [EXIT, MEMORY, TIME] = ['Runtime.ExitError', 'Runtime.OutOfMemory', 'Sandbox.Timedout'];
  test.each([
    ['exit', EXIT, 'exit status 3'],
    ['quiet exit', EXIT, 'without providing a reason'],
    ['objects beyond its memory', MEMORY, 'signal: killed'],
    ['buffers beyond its memory', MEMORY, 'signal: killed'],
    ['never settle', TIME, 'Task timed out after 1.00 seconds'],
    ['block', TIME, 'Task timed out after 1.00 seconds'],
  ])(
    'by %s fails its invocation, and the next one gets a new environment',
    async (how, errorType, message) => {
      const timeoutSeconds = errorType === TIME ? 1 : 20;
      const { local, lines } = start({ handler: 'index.dies', timeoutSeconds, memoryMegabytes: 32 });
      const errorMessage = expect.stringContaining(message);
      expect(await local.invoke({ how })).toMatchObject({ ok: false, errorType, errorMessage });
      expect(texts(lines, 'stdout')).toEqual(['loading', `about to: ${how}`]);
      expect(await local.invoke({})).toMatchObject({ ok: true, payload: { invocations: 1 } });
    },
  );

  test('logs an uncaught exception with its stack, then its end', async () => {
    const { local, lines } = start({ handler: 'index.dies' });
    const { requestId } = await local.invoke({ how: 'uncaught exception' });
    const [exception, end] = texts(lines, 'stderr').map((text) => JSON.parse(text));
    expect(exception).toMatchObject({
      requestId,
      message: {
        errorType: 'Error',
        errorMessage: 'nobody catches this',
        stackTrace: expect.arrayContaining([expect.stringContaining('fixtures/index.mjs')]),
      },
    });
    expect(end).toMatchObject({ requestId, message: { errorType: 'Runtime.ExitError' } });
  });

  test('by kill() fails the running invocation; a new environment serves waiting ones', async () => {
    const { local } = start({ handler: 'index.identify' });
    await local.warmUp();
    const running = local.invoke({ sleepMilliseconds: 60_000 });
    const waiting = local.invoke({ order: 2 });
    await local.kill();
    expect(await running).toMatchObject({
      ok: false,
      errorType: 'Runtime.ExitError',
      errorMessage: expect.stringContaining('signal: killed'),
    });
    expect(await waiting).toMatchObject({ ok: true, payload: { order: 2, invocations: 1 } });
  });

  test.each(['while it loads the code', 'while it is idle'])(
    'by kill() %s costs no invocation',
    async (when) => {
      const { local, lines } = start({ handler: 'index.identify' });
      const warmedUp = local.warmUp();
      if (when === 'while it is idle') await warmedUp;
      await local.kill();
      await warmedUp;
      expect(await local.invoke({ order: 1 })).toMatchObject({ payload: { order: 1, invocations: 1 } });
      expect(texts(lines, 'stderr')).toEqual([]);
    },
  );

  test('a closed function fails running, waiting and later invocations', async () => {
    const { local } = start({ handler: 'index.identify' });
    await local.warmUp();
    const running = local.invoke({ sleepMilliseconds: 60_000 });
    const waiting = local.invoke({});
    await local.close();
    expect(await running).toMatchObject({ ok: false, errorType: 'Runtime.ExitError' });
    expect(await waiting).toMatchObject({ ok: false, errorType: 'Runtime.ExitError' });
    expect(await local.invoke({})).toMatchObject({ ok: false, errorType: 'Runtime.ExitError' });
  });
});

describe('loading the code', () => {
  test.each<[handler: string, errorType: string, message: string, code?: string]>([
    ['missing.handler', 'Runtime.ImportModuleError', "Cannot find module 'missing'"],
    ['index.missing', 'Runtime.HandlerNotFound', 'the module exports: '],
    ['index.notAFunction', 'Runtime.HandlerNotFound', 'is not a function'],
    ['index.takesCallback', 'Runtime.CallbackHandlerDeprecated', 'make it async'],
    ['index', 'Runtime.MalformedHandlerName', "Bad handler: 'index'"],
    ['index.handler', 'Runtime.ImportModuleError', 'nowhere', "import 'nowhere';"],
    ['index.handler', 'Runtime.UserCodeSyntaxError', 'SyntaxError', 'export const handler = {'],
    ['index.handler', 'TypeError', 'No TABLE', "throw new TypeError('No TABLE');"],
    ['index.handler', 'Runtime.ExitError', 'exit status 1', 'process.exit(1);'],
  ])('fails each invocation of %s with %s: %s', async (handler, errorType, message, ...[code]) => {
    const codeDirectory = code === undefined ? fixtures : await folderWith({ 'index.mjs': code });
    const { local } = start({ handler, codeDirectory });
    const expected = { ok: false, errorType, errorMessage: expect.stringContaining(message) };
    expect(await local.invoke({})).toMatchObject(expected);
    expect(await Promise.all([local.invoke({}), local.invoke({})])).toMatchObject([expected, expected]);
  });

  test('is tried again by the next invocation, and warming up only logs the failure', async () => {
    const codeDirectory = await folderWith({ 'index.mjs': "throw new Error('not yet');" });
    const { local, lines } = start({ handler: 'index.handler', codeDirectory });
    await local.warmUp();
    expect(texts(lines, 'stderr')).toEqual([expect.stringContaining('not yet')]);
    await writeFile(join(codeDirectory, 'index.mjs'), "export const handler = async () => 'now';");
    expect(await local.invoke({})).toMatchObject({ ok: true, payload: 'now' });
  });
});

test('the log has every line of an invocation, with its request id, before the result', async () => {
  const { local, lines } = start({ handler: 'index.logs' });
  await local.warmUp();
  lines.length = 0;
  const { requestId } = await local.invoke({});
  const functionName = 'shop-updated';
  expect(lines).toEqual([
    { functionName, requestId, stream: 'stdout', text: 'first' },
    { functionName, requestId, stream: 'stdout', text: 'second' },
    { functionName, requestId, stream: 'stderr', text: 'to stderr 7' },
    { functionName, requestId, stream: 'stdout', text: 'é without line end' },
  ]);
});

describe('a function in a debugger', () => {
  async function inspected(handler: string) {
    const inspector = await InspectorPort.open(0);
    cleanUps.push(() => inspector.close());
    const { local } = start({ handler, maximumConcurrency: 4 }, inspector);
    await local.warmUp();
    return { local, inspector };
  }

  async function targetOf({ address }: InspectorPort): Promise<string | undefined> {
    const response = await fetch(`http://${address}/json`).catch(() => undefined);
    const [target] = response === undefined ? [] : ((await response.json()) as { id: string }[]);
    return target?.id;
  }

  test('keeps its port if its environment has died', async () => {
    const { local, inspector } = await inspected('index.echo');
    const first = await targetOf(inspector);
    expect(first).toEqual(expect.any(String));
    await local.kill();
    expect(await targetOf(inspector)).toBeUndefined();
    await Promise.all([local.invoke({}), local.invoke({})]);
    expect(local.environments).toBe(1);
    const second = await targetOf(inspector);
    expect(second).toEqual(expect.any(String));
    expect(second).not.toBe(first);
  });

  test('ends at once if it is stopped at a breakpoint', async () => {
    const { local, inspector } = await inspected('index.echo');
    const socket = new WebSocket(`ws://${inspector.address}/${await targetOf(inspector)}`);
    await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
    const paused = new Promise<void>((resolve) => {
      socket.addEventListener('message', ({ data }) => {
        if (String(data).includes('"Debugger.paused"')) resolve();
      });
    });
    const expression = 'setTimeout(() => { debugger; for (;;); })';
    socket.send(JSON.stringify({ id: 1, method: 'Debugger.enable' }));
    socket.send(JSON.stringify({ id: 2, method: 'Runtime.evaluate', params: { expression } }));
    await paused;
    // It would wait for the debugger for ever.
    await local.close();
    expect(local.environments).toBe(0);
  });
});

describe('new code of a function', () => {
  const saying = (answer: string) =>
    folderWith({ 'index.mjs': `export const identify = async () => '${answer}';` });

  test('runs from the next invocation on, while the old code finishes the running one', async () => {
    const { local } = start({ handler: 'index.identify', maximumConcurrency: 1 });
    const before = await identify(local, {});
    const running = local.invoke({ sleepMilliseconds: 500, order: 1 });
    await eventually(async () => local.environments === 1 || undefined);
    const codeDirectory = await saying('new');
    expect(await local.replaceCode(codeDirectory)).toBeUndefined();
    expect(await local.invoke({})).toMatchObject({ ok: true, payload: 'new' });
    expect(await running).toMatchObject({
      ok: true,
      payload: { environmentId: before.environmentId, order: 1 },
    });
    await eventually(async () => local.environments === 1 || undefined);
  });

  test('replaces idle environments, and starts nothing else', async () => {
    const { local } = start({ handler: 'index.identify' });
    expect(await local.replaceCode(await saying('new'))).toBeUndefined();
    expect(local.environments).toBe(0);
    await local.warmUp();
    await local.replaceCode(await saying('newer'));
    await eventually(async () => local.environments === 1 || undefined);
    expect(await local.invoke({})).toMatchObject({ payload: 'newer' });
  });

  test('that cannot be loaded changes nothing, and reports the reason', async () => {
    const { local, lines } = start({ handler: 'index.identify' });
    const { environmentId } = await identify(local, {});
    const codeDirectory = await folderWith({ 'index.mjs': "throw new TypeError('not so');" });
    expect(await local.replaceCode(codeDirectory)).toMatchObject({
      errorType: 'TypeError',
      errorMessage: 'not so',
    });
    expect(await identify(local, {})).toMatchObject({ environmentId });
    expect(texts(lines, 'stderr')).toEqual([]);
  });
});
