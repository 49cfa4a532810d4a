import { randomUUID } from 'node:crypto';
import { CloudWatchClient, SetAlarmStateCommand } from '@aws-sdk/client-cloudwatch';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { backOffSeconds } from '../../../../lambda/consumer/retry.ts';
import { FIRST_RETRY_SECONDS, MAX_RECEIVES } from '../../../../lambda/limits.ts';
import { alarmTable } from '../../../../lib/alarms/alarm-table.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { Partner } from '../../../../test/support/partner.ts';
import { sharedStack } from '../../../../test/support/shared-stack.ts';
import { Tables } from '../../../../test/support/tables.ts';
import type { TestAws } from '../../../../test/support/test-aws.ts';
import type { Operation } from '../../../stage/operation.ts';
import { dlqList } from '../../../stage/queues/dlq-list.ts';
import { pause, pauseState, resume } from '../../../stage/queues/pause.ts';
import { hoursOfTries } from '../../../stage/replay/replay-plan.ts';
import type { Stage } from '../../../stage/stage.ts';
import { Operator, refusalOf, replied, startedOperator } from './support.ts';

/** Ages in seconds at which the alarm `Waiting` fires. */
const { threshold, thresholdInPause } = alarmTable['<Event>/Waiting'].fires;
const OPERATOR = 'arn:aws:iam::000000000000:user/operator';
const REASON = 'The shop table is being restored';
const EVENT = 'shop.updated';

// Takes 6 s: a paused event source finishes its last poll first.
test('a paused event is accepted and waits, other events continue, and a resume processes it', async () => {
  const stack = await sharedStack();
  const operator = await Operator.create(stack);
  const [partner, tables] = [new Partner(stack.outputs.WebhookUrl), new Tables(stack.operator)];
  const [girl_id, user_id] = [randomUUID(), randomUUID()];
  const post = (event: string, data: object) =>
    partner.post({ event, data, timestamp: '2026-01-31T09:00:00Z' });
  const [cast, contacts] = [stack.outputs.CastTable, stack.outputs.ContactPartnerTable];
  try {
    await pause(operator.operation(), 'girl.created', REASON);
    expect(await post('girl.created', { girl_id })).toMatchObject({ status: 200 });
    await post('user.updated', { user_id, shop_id: 'shop-1' });
    await eventually(() => tables.get(contacts, { user_id }));
    expect(await operator.queues.count(stack.outputs.GirlCreatedQueueUrl)).toBe(1);
    expect(await tables.get(cast, { girl_id })).toBeUndefined();
  } finally {
    const operation = operator.operation();
    await resume(operation, 'girl.created');
    expect(operation.said.join()).toContain('About 1 message waited and will be processed now.');
  }
  await eventually(() => tables.get(cast, { girl_id }));
  await operator.close();
});

test('commands expect failed attempts until the longest waits are over', () => {
  const longest = Array.from({ length: MAX_RECEIVES }, (_, index) =>
    backOffSeconds(index + 1, FIRST_RETRY_SECONDS, 1),
  );
  const seconds = longest.slice(0, -1).reduce((total, wait) => total + wait, 0);
  expect(seconds).toBeLessThan(hoursOfTries('user.updated') * 60 * 60);
});

describe('with a separate event source', () => {
  const started = startedOperator();
  let aws: TestAws;
  let operator: Operator;
  let cloudwatch: CloudWatchClient;
  let lambda: LambdaClient;
  let queue: string | undefined;
  /** State of the event source by queue. A disabled one ends its batches until the next poll. */
  const sources = new Map<unknown, string>();
  /** Commands that are rejected. */
  const refused = new Set<string>();
  /** What the commands of a test reported as data. */
  let reported: object[];
  let stack: Stage;

  beforeAll(() => {
    ({ aws, operator } = started);
    queue = aws.outputs.ShopUpdatedQueueUrl;
    lambda = replied(new LambdaClient(aws.operator), (name, { EventSourceArn, UUID, Enabled }) => {
      refuse(name);
      if (name === 'UpdateEventSourceMappingCommand') {
        sources.set(UUID, Enabled ? 'Enabled' : 'Disabling');
        return {};
      }
      const State = sources.get(EventSourceArn) ?? 'Enabled';
      sources.set(EventSourceArn, State === 'Disabling' ? 'Disabled' : State);
      return { EventSourceMappings: [{ UUID: EventSourceArn, EventSourceArn, State }] };
    });
    cloudwatch = new CloudWatchClient(aws.operator);
  });
  beforeEach(async () => {
    reported = [];
    const ofOperator = replied(new CloudWatchClient(aws.operator), (name) => refuse(name));
    stack = operator.stack.with({ lambda, cloudwatch: ofOperator });
    // Like CloudWatch at its first evaluation.
    await set('ShopUpdatedWaitingAlarm', 'OK', 'Nothing waits');
  });
  afterEach(async () => {
    refused.clear();
    await act(resume).catch(() => {});
    await operator.empty();
  });
  afterAll(() => cloudwatch.destroy());

  function refuse(command: string): undefined {
    if (!refused.has(command)) return;
    const denied = { name: 'AccessDenied', $metadata: {}, $fault: 'client' };
    throw Object.assign(new Error('not authorized'), denied);
  }

  const set = (output: string, StateValue: 'OK' | 'ALARM', StateReason: string) =>
    cloudwatch.send(new SetAlarmStateCommand({ AlarmName: aws.outputs[output], StateValue, StateReason }));

  async function act(command: (operation: Operation, event: string) => Promise<unknown>, of = stack) {
    const operation = { ...operator.operation(), stack: of };
    await command(operation, EVENT);
    reported.push(...operation.reported);
    return operation.said.join('\n');
  }
  const paused =
    (reason = REASON) =>
    (operation: Operation, event: string) =>
      pause(operation, event, reason);
  const listed = (json = false) => act((operation) => dlqList(operation, {}, json));

  async function alarms() {
    const state = await pauseState(stack, EVENT);
    return {
      source: state.source,
      paused: [state.paused.StateValue, state.paused.StateReason],
      waiting: [state.waiting.StateValue, state.waiting.Threshold],
    };
  }
  const PAUSED = {
    source: 'Disabled',
    paused: ['ALARM', `Paused by ${OPERATOR}: ${REASON}`],
    waiting: ['OK', thresholdInPause],
  };
  const RESUMED = {
    source: 'Enabled',
    paused: ['OK', `Resumed by ${OPERATOR}`],
    waiting: ['OK', threshold],
  };

  test('the alarm’s mail says who paused it and why, and later that it is resumed, and so does the report', async () => {
    const url = await operator.queues.subscribe(aws.outputs.AlarmTopicArn, 'mails');
    const AlarmName = aws.outputs.ShopUpdatedPausedAlarm;
    const expectMail = async (NewStateValue: string, NewStateReason: string) =>
      expect(JSON.parse((await operator.queues.take(url)).Body ?? '')).toMatchObject({
        AlarmName,
        NewStateValue,
        NewStateReason,
      });
    const said = await act(paused());
    expect(said).toContain(`Paused. Nothing processes ${EVENT} in the stack of`);
    expect(said).toContain(
      'SQS deletes an event 7 d after its arrival. An alarm fires a day before. 0 messages',
    );
    expect(said).toContain(`npx hookctl resume ${EVENT} --outputs ${operator.outputsFile}`);
    await expectMail('ALARM', `Paused by ${OPERATOR}: ${REASON}`);
    await operator.put(queue, '{}');
    await act(resume);
    await expectMail('OK', `Resumed by ${OPERATOR}`);
    expect(reported).toMatchObject([
      { event: EVENT, by: OPERATOR, reason: REASON, waiting: 0, resume: expect.stringContaining('resume') },
      { event: EVENT, by: OPERATOR, waited: 1 },
    ]);
  });

  test('a pause is reported again by the next one if somebody turned the event source on', async () => {
    await set('ShopUpdatedPausedAlarm', 'ALARM', 'Paused by somebody: long ago');
    const url = await operator.queues.subscribe(aws.outputs.AlarmTopicArn, 'mails-again');
    await act(paused());
    const isAlarm = ({ Body = '' }) => JSON.parse(Body).NewStateValue === 'ALARM';
    const { Body = '' } = await operator.queues.take(url, isAlarm);
    expect(JSON.parse(Body).NewStateReason).toBe(`Paused by ${OPERATOR}: ${REASON}`);
  });

  test('the alarm on age fires in a pause only a day before messages are lost, and again for messages that stay', async () => {
    const settings = async () => {
      const { waiting } = await pauseState(stack, EVENT);
      const { AlarmActions, Statistic, Dimensions, Period, TreatMissingData } = waiting;
      return { AlarmActions, Statistic, Dimensions, Period, TreatMissingData };
    };
    const before = await settings();
    expect(before).toMatchObject({ AlarmActions: [aws.outputs.AlarmTopicArn], Statistic: 'Maximum' });
    await act(paused());
    expect((await alarms()).waiting).toEqual(['OK', thresholdInPause]);
    expect(await settings()).toEqual(before);
    await set('ShopUpdatedWaitingAlarm', 'ALARM', 'A message is old');
    await act(resume);
    expect(await alarms()).toEqual(RESUMED);
  });

  test('what cannot be paused or resumed is refused with the reason', async () => {
    await expect(act(resume)).rejects.toThrow(`shop.updated is not paused in ${operator.stack.title}`);
    await act(paused());
    expect(await refusalOf(act(paused('Another one')))).toMatch(
      new RegExp(`^shop\\.updated is already paused, since \\S+Z, by ${OPERATOR}: ${REASON}$`),
    );
    const unknown = /^No event 'shop_updated' in .* Did you mean shop\.updated\? One of: shop\.updated, /;
    await expect(pause(operator.operation(), 'shop_updated', REASON)).rejects.toThrow(unknown);
    await expect(resume(operator.operation(), 'shop_updated')).rejects.toThrow(unknown);
  });

  describe('a half-finished command is completed by repeating it', () => {
    test('Ctrl-C while batches end: it is reported, and the age alarm keeps its threshold', async () => {
      const operation = { ...operator.operation(AbortSignal.abort()), stack };
      expect(await pause(operation, EVENT, REASON)).toBe(false);
      expect(operation.said.at(-1)).toMatch(
        /^Interrupted before it was complete\. Repeat the command to complete it, or undo it: npx hookctl resume shop\.updated/,
      );
      expect(await alarms()).toEqual({ ...PAUSED, waiting: ['OK', threshold] });
      await act(paused());
      expect(await alarms()).toEqual(PAUSED);
    });

    test('the event source was off, and no alarm reported it', async () => {
      await pauseState(stack, EVENT);
      for (const arn of sources.keys()) sources.set(arn, 'Disabled');
      expect(await listed()).toMatch(/shop\.updated +0 +unknown +– +its event source was turned off by hand/);
      await act(paused());
      expect(await alarms()).toEqual(PAUSED);
    });

    test('the threshold cannot be set: the person who completes it is named', async () => {
      refused.add('PutMetricAlarmCommand');
      await expect(act(paused())).rejects.toThrow('but its alarms are not set yet');
      expect(await alarms()).toEqual({ ...PAUSED, waiting: ['OK', threshold] });
      refused.clear();
      await act(paused('Another one'));
      expect(await alarms()).toEqual({ ...PAUSED, paused: ['ALARM', `Paused by ${OPERATOR}: Another one`] });
    });

    test.each([
      ['the alarms cannot be read', 'DescribeAlarmsCommand'],
      ['the event source cannot be turned off', 'UpdateEventSourceMappingCommand'],
    ])('%s: nothing is changed', async (_, command) => {
      const before = await alarms();
      refused.add(command);
      await expect(act(paused())).rejects.toMatchObject({ name: 'AccessDenied' });
      refused.clear();
      expect(await alarms()).toEqual(before);
    });

    test('the event source was on again, but the alarms were not reset', async () => {
      await act(paused());
      refused.add('PutMetricAlarmCommand');
      await expect(act(resume)).rejects.toThrow(
        'The event source of shop.updated is on, but its alarms are not reset yet',
      );
      expect(await listed()).toContain('(but its event source is on)');
      refused.clear();
      await act(resume);
      expect(await alarms()).toEqual(RESUMED);
    });
  });

  test('dlq list shows what is paused, how long, by whom and why, and how to resume it', async () => {
    expect(await listed()).not.toContain('Paused:');
    await act(paused());
    await operator.put(queue, '{}');
    const text = await listed();
    expect(text).toMatch(/\nshop\.updated +1 +0 +paused\n/);
    expect(text).toMatch(
      new RegExp(
        `Paused: .*\n\nEVENT +WAITING +SINCE +BY +REASON\nshop\\.updated +1 +.+ ago +${OPERATOR} +${REASON}\n\nResume: npx hookctl resume shop\\.updated --outputs`,
      ),
    );
    const since = expect.any(String);
    expect(JSON.parse(await listed(true)).paused).toEqual([
      { event: EVENT, waiting: 1, by: OPERATOR, reason: REASON, since, running: false },
    ]);
  });
});
