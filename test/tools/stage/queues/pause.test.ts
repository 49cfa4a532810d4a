import { CloudWatchClient, SetAlarmStateCommand } from '@aws-sdk/client-cloudwatch';
import { LambdaClient, UpdateEventSourceMappingCommand } from '@aws-sdk/client-lambda';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { alarmTable } from '../../../../lib/alarms/alarm-table.ts';
import type { LocalStack } from '../../../../local/local-stack.ts';
import { list } from '../../../../tools/stage/queues/dlq-list.ts';
import { pause, resume } from '../../../../tools/stage/queues/pause.ts';
import { pauseState } from '../../../../tools/stage/queues/pause-state.ts';
import type { Stage } from '../../../../tools/stage/stage.ts';
import { eventually } from '../../../support/eventually.ts';
import { Partner } from '../../../support/partner.ts';
import { Tables } from '../../../support/tables.ts';
import { startTestStack } from '../../../support/test-stack.ts';
import { Operator } from './support.ts';

/** Ages in seconds at which the alarm `Waiting` rings. */
const { threshold, thresholdInPause } = alarmTable['<Event>/Waiting'].rings;

const OPERATOR = 'arn:aws:iam::000000000000:user/operator';
const REASON = 'The shop table is being restored';

let aws: LocalStack;
let operator: Operator;
let cloudwatch: CloudWatchClient;

beforeAll(async () => {
  aws = await startTestStack();
  operator = await Operator.create(aws);
  cloudwatch = new CloudWatchClient(aws.operator);
  // As CloudWatch does at its first look.
  await set('ShopUpdatedWaitingAlarm', 'OK', 'Nothing waits');
});
afterAll(async () => {
  cloudwatch.destroy();
  await operator.close();
  await aws.close();
});
afterEach(async () => {
  await act(resume).catch(() => {});
});

/** What a command has said. */
async function act(
  command: (operation: ReturnType<Operator['operation']>, event: string) => Promise<unknown>,
  { event = 'shop.updated', stack = operator.stack }: { event?: string; stack?: Stage } = {},
): Promise<string> {
  const operation = { ...operator.operation(), stack };
  await command(operation, event);
  return operation.said.join('\n');
}

const pauseFor =
  (reason = REASON) =>
  (operation: ReturnType<Operator['operation']>, event: string) =>
    pause(operation, event, reason);

const listed = () => act((operation) => list(operation, { json: false }));

async function deliver(shopId: string): Promise<void> {
  const delivery = { event: 'shop.updated', data: { shop_id: shopId }, timestamp: '2026-01-31T09:00:00Z' };
  const { status } = await new Partner(aws.outputs.WebhookUrl).post(delivery);
  expect(status).toBe(200);
}

const effect = (shopId: string) =>
  new Tables(aws.operator).get(aws.outputs.ShopCacheTable, { shop_id: shopId });

async function alarms() {
  const { paused, waiting, source } = await pauseState(operator.stack, 'shop.updated');
  return {
    source,
    paused: [paused.StateValue, paused.StateReason],
    waiting: [waiting.StateValue, waiting.Threshold],
  };
}

const set = (output: string, StateValue: 'OK' | 'ALARM', StateReason: string) =>
  cloudwatch.send(new SetAlarmStateCommand({ AlarmName: aws.outputs[output], StateValue, StateReason }));

test('while an event is paused it is accepted and waits; resumed, it has its effect', async () => {
  const said = await act(pauseFor());
  expect(said).toContain('Paused. Nothing processes shop.updated in the stack of');
  expect(said).toContain(`npm run resume -- shop.updated --outputs ${operator.outputsFile}`);
  await deliver('shop-1');
  await deliver('shop-2');
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await operator.queues.count(aws.outputs.ShopUpdatedQueueUrl)).toBe(2);
  expect(await effect('shop-1')).toBeUndefined();

  expect(await act(resume)).toContain('About 2 messages waited and will be processed now.');
  expect(await eventually(() => effect('shop-1'))).toHaveProperty('invalidated_at');
  expect(await eventually(() => effect('shop-2'))).toHaveProperty('invalidated_at');
});

test('the others go on', async () => {
  await act(pauseFor());
  const user = { event: 'user.updated', data: { user_id: 'user-1' }, timestamp: '2026-01-31T09:00:00Z' };
  await new Partner(aws.outputs.WebhookUrl).post(user);
  const contact = () => new Tables(aws.operator).get(aws.outputs.ContactPartnerTable, { user_id: 'user-1' });
  expect(await eventually(contact)).toBeDefined();
});

test('who and why is told to whoever gets the alarms, and that it is over', async () => {
  const url = await operator.queues.subscribe(aws.outputs.AlarmTopicArn, 'mails');
  const mail = async () => JSON.parse((await operator.queues.take(url)).Body ?? '');
  await act(pauseFor());
  expect(await mail()).toMatchObject({
    AlarmName: aws.outputs.ShopUpdatedPausedAlarm,
    NewStateValue: 'ALARM',
    NewStateReason: `Paused by ${OPERATOR}: ${REASON}`,
  });
  await act(resume);
  expect(await mail()).toMatchObject({
    AlarmName: aws.outputs.ShopUpdatedPausedAlarm,
    NewStateValue: 'OK',
    NewStateReason: `Resumed by ${OPERATOR}`,
  });
});

test('the alarm on age rings meanwhile only a day before something is lost, and then anew for what stays', async () => {
  await act(pauseFor());
  expect((await alarms()).waiting).toEqual(['OK', thresholdInPause]);
  await set('ShopUpdatedWaitingAlarm', 'ALARM', 'A message is old');
  await act(resume);
  expect((await alarms()).waiting).toEqual(['OK', threshold]);
});

test('nothing else of the alarm on age changes', async () => {
  const before = (await pauseState(operator.stack, 'shop.updated')).waiting;
  const sent: unknown[] = [];
  const client = new CloudWatchClient(aws.operator);
  client.middlewareStack.add((next, { commandName }) => (args) => {
    if (commandName === 'PutMetricAlarmCommand') sent.push(args.input);
    return next(args);
  });
  await act(pauseFor(), { stack: operator.stack.with({ cloudwatch: client }) });
  const {
    AlarmArn,
    StateValue,
    StateReason,
    StateUpdatedTimestamp,
    StateTransitionedTimestamp,
    ...settings
  } = before;
  expect(settings).toMatchObject({ AlarmActions: [aws.outputs.AlarmTopicArn], Statistic: 'Maximum' });
  expect(sent).toEqual([{ ...settings, Threshold: thresholdInPause }]);
});

test('so it does where it comes on in the moment before it rings early again', async () => {
  await act(pauseFor());
  const client = new CloudWatchClient(aws.operator);
  client.middlewareStack.add((next, { commandName }) => async (args) => {
    if (commandName === 'PutMetricAlarmCommand') {
      await set('ShopUpdatedWaitingAlarm', 'ALARM', 'A message is old');
    }
    return next(args);
  });
  await act(resume, { stack: operator.stack.with({ cloudwatch: client }) });
  expect((await alarms()).waiting).toEqual(['OK', threshold]);
});

describe('how long nothing is lost', () => {
  test('is the retention of the queue, where nothing waits', async () => {
    const from = Date.now();
    const said = await act(pauseFor());
    const until = Date.parse(/Nothing is lost until (\S+Z), for 7 d/.exec(said)?.[1] ?? '');
    const days = 24 * 60 * 60 * 1000;
    expect(until).toBeGreaterThanOrEqual(from + 7 * days);
    expect(until).toBeLessThan(Date.now() + 7 * days + 1_000);
  });

  test('is less where something waits: by its age, where CloudWatch knows it', async () => {
    await act(pauseFor());
    await deliver('shop-3');
    await set('ShopUpdatedPausedAlarm', 'OK', 'So that it can be paused once more');
    expect(await act(pauseFor())).toContain(
      'But 1 message waited already, and CloudWatch does not know the age of the oldest: subtract it.',
    );
    const measured = answering('GetMetricStatisticsCommand', {
      Datapoints: [{ Timestamp: new Date(), Maximum: 2 * 24 * 60 * 60 }],
    });
    await set('ShopUpdatedPausedAlarm', 'OK', 'So that it can be paused once more');
    expect(await act(pauseFor(), { stack: measured })).toMatch(/Nothing is lost until \S+Z, for [45] d/);
  });

  test('is four hours less where something backs off, whose age CloudWatch leaves out', async () => {
    await act(pauseFor(), { event: 'girl.created' });
    await operator.hold(aws.outputs.GirlCreatedQueueUrl);
    await set('GirlCreatedPausedAlarm', 'OK', 'So that it can be paused once more');
    const said = await act(pauseFor(), { event: 'girl.created' });
    expect(said).toMatch(/Nothing is lost until \S+Z, for 6 d (20|19) h/);
    await act(resume, { event: 'girl.created' });
  });
});

describe('what it cannot do it says in one line', () => {
  test('pause of what is paused: since when, by whom and why', async () => {
    await act(pauseFor());
    await expect(act(pauseFor('Another one'))).rejects.toMatchObject({
      name: 'CommandError',
      message: expect.stringMatching(
        new RegExp(`^shop\\.updated is paused already, since \\S+Z, by ${OPERATOR}: ${REASON}$`),
      ),
    });
  });

  test('resume of what is not paused', async () => {
    await expect(act(resume)).rejects.toMatchObject({
      name: 'CommandError',
      message: `shop.updated is not paused in the stack of ${operator.outputsFile}`,
    });
  });

  test.each([
    ['pause', pauseFor()],
    ['resume', resume],
  ])('%s of an event that there is not', async (_name, command) => {
    await expect(act(command, { event: 'shop_updated' })).rejects.toMatchObject({
      name: 'CommandError',
      message: expect.stringMatching(
        /^No event 'shop_updated' in the stack of \S+\. Did you mean shop\.updated\? One of: shop\.updated, /,
      ),
    });
  });

  test.each(['ShopUpdatedPausedAlarm', 'ShopUpdatedWaitingAlarm'])(
    'a stack that was deployed without %s',
    async (missing) => {
      const { [missing]: _, ...outputs } = operator.stack.outputs;
      await expect(act(pauseFor(), { stack: operator.stack.with({ outputs }) })).rejects.toThrow(
        `The stack has no output ${missing}: deploy `,
      );
    },
  );
});

describe('what ended half-way is completed by repeating it', () => {
  test('Ctrl-C, while batches in work end: it says so, and the alarm on age waits for no pause yet', async () => {
    const operation = operator.operation(AbortSignal.abort());
    expect(await pause(operation, 'shop.updated', REASON)).toBe(false);
    expect(operation.said.at(-1)).toMatch(
      /^Interrupted before it was complete\. Repeat the command to complete it, or undo it: npm run resume -- shop\.updated/,
    );
    expect(await alarms()).toEqual({
      source: 'Disabling',
      paused: ['ALARM', `Paused by ${OPERATOR}: ${REASON}`],
      waiting: ['OK', threshold],
    });
    expect(await act(pauseFor())).toContain('Completing that.');
    expect((await alarms()).waiting).toEqual(['OK', thresholdInPause]);
  });

  test('the event source was off, and no alarm knew', async () => {
    const { uuid } = await pauseState(operator.stack, 'shop.updated');
    await new LambdaClient(aws.operator).send(
      new UpdateEventSourceMappingCommand({ UUID: uuid, Enabled: false }),
    );
    expect(await listed()).toMatch(/shop\.updated +0 +unknown +– +its event source was turned off by hand/);
    await act(pauseFor());
    expect(await alarms()).toEqual({
      source: 'Disabled',
      paused: ['ALARM', `Paused by ${OPERATOR}: ${REASON}`],
      waiting: ['OK', thresholdInPause],
    });
  });

  test('the pause was told, and the alarm on age as before: who it was first stays', async () => {
    const first = failing('PutMetricAlarmCommand');
    await expect(act(pauseFor(), { stack: first })).rejects.toMatchObject({
      name: 'CommandError',
      message:
        'The event source of shop.updated is off, but its alarms are not set yet: AccessDenied: not authorized. Repeat the command to complete it',
    });
    expect((await alarms()).waiting).toEqual(['OK', threshold]);
    expect(await act(pauseFor('Another one'))).toContain(`by ${OPERATOR}: ${REASON}. Completing that.`);
    expect(await alarms()).toEqual({
      source: 'Disabled',
      paused: ['ALARM', `Paused by ${OPERATOR}: ${REASON}`],
      waiting: ['OK', thresholdInPause],
    });
  });

  test('an alarm that cannot be set leaves the one on age to ring', async () => {
    await expect(act(pauseFor(), { stack: failing('SetAlarmStateCommand') })).rejects.toThrow(
      'The event source of shop.updated is off, but its alarms are not set yet',
    );
    expect((await alarms()).waiting).toEqual(['OK', threshold]);
  });

  test('an event source that is not to be turned off leaves everything as it was', async () => {
    const before = await alarms();
    const stack = failing('UpdateEventSourceMappingCommand');
    await expect(act(pauseFor(), { stack })).rejects.toMatchObject({ name: 'AccessDenied', $metadata: {} });
    expect(await alarms()).toEqual(before);
  });

  test('the event source was on again, and the alarms not set back', async () => {
    await act(pauseFor());
    await expect(act(resume, { stack: failing('PutMetricAlarmCommand') })).rejects.toThrow(
      'The event source of shop.updated is on, but its alarms are not set back yet',
    );
    expect(await listed()).toContain('(but its event source is on)');
    await act(resume);
    expect(await alarms()).toEqual({
      source: 'Enabled',
      paused: ['OK', `Resumed by ${OPERATOR}`],
      waiting: ['OK', threshold],
    });
  });
});

test('a pause whose event source somebody turned on is told anew by the next one', async () => {
  await set('ShopUpdatedPausedAlarm', 'ALARM', 'Paused by somebody: long ago');
  const url = await operator.queues.subscribe(aws.outputs.AlarmTopicArn, 'mails-anew');
  await act(pauseFor());
  const mail = await operator.queues.take(url, ({ Body = '' }) => JSON.parse(Body).NewStateValue === 'ALARM');
  expect(JSON.parse(mail.Body ?? '').NewStateReason).toBe(`Paused by ${OPERATOR}: ${REASON}`);
});

describe('list', () => {
  test('shows what is paused, for how long, by whom and why, and how it goes on', async () => {
    expect(await listed()).not.toContain('Paused:');
    await act(pauseFor());
    await deliver('shop-4');
    const text = await eventually(async () => {
      const said = await listed();
      return said.includes('shop.updated        1          0  paused') ? said : undefined;
    });
    expect(text).toMatch(
      new RegExp(
        `Paused: .*\n\nEVENT +WAITING +SINCE +BY +REASON\nshop\\.updated +1 +\\d+ s ago +${OPERATOR} +${REASON}\n\nResume: npm run resume -- shop\\.updated --outputs`,
      ),
    );
    const json = JSON.parse(await act((operation) => list(operation, { json: true })));
    expect(json.paused).toEqual([
      {
        event: 'shop.updated',
        waiting: 1,
        by: OPERATOR,
        reason: REASON,
        since: expect.any(String),
        running: false,
      },
    ]);
  });

  test('says so where it may not look', async () => {
    const stack = failing('DescribeAlarmsCommand');
    expect(await act((operation) => list(operation, { json: false }), { stack })).toContain(
      'What is paused is unknown: AccessDenied: not authorized',
    );
  });
});

/** The stack for somebody who may not do one thing. */
function failing(command: string): Stage {
  const [cloudwatch, lambda] = [new CloudWatchClient(aws.operator), new LambdaClient(aws.operator)];
  const refuse = ({ commandName }: { readonly commandName?: string }) => {
    if (commandName !== command) return;
    throw Object.assign(new Error('not authorized'), { name: 'AccessDenied', $metadata: {} });
  };
  cloudwatch.middlewareStack.add((next, context) => (args) => {
    refuse(context);
    return next(args);
  });
  lambda.middlewareStack.add((next, context) => (args) => {
    refuse(context);
    return next(args);
  });
  return operator.stack.with({ cloudwatch, lambda });
}

/** The stack with a measurement, of which the local one has none. */
function answering(command: string, output: object): Stage {
  const client = new CloudWatchClient(aws.operator);
  client.middlewareStack.add(
    (next, context) => async (args) =>
      context.commandName === command ? { response: {}, output: { ...output, $metadata: {} } } : next(args),
  );
  return operator.stack.with({ cloudwatch: client });
}
