import { expect, test } from '@jest/globals';
import { stages } from '../../bin/stages.ts';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { pascalCase } from '../../lambda/events/event-names.ts';
import { type AlarmName, alarmTable } from '../../lib/alarms/alarm-table.ts';
import { parseConfig, type StageConfig } from '../../lib/config.ts';
import { type DataPoint, fires } from '../support/alarm-evaluation.ts';
import { everyStage, type StageResource } from './stage-assembly.ts';

/** When an alarm must fire and when not: written from the runbook and the decisions, not from the table of alarms. */
interface Samples {
  readonly metric: string;
  readonly fires: readonly (readonly DataPoint[])[];
  readonly silent: readonly (readonly DataPoint[])[];
  /** @default it is silent, because no traffic is no failure */
  readonly withoutData?: 'fires' | 'keeps its state';
}

/** Values of one minute. */
const at = (age: number, ...values: number[]): DataPoint[] => values.map((value) => [age, value]);

/** Each minute, back to an age. */
const eachMinute = (value: number, age: number) =>
  Array.from({ length: age + 1 }, (_, minute): DataPoint => [minute, value]);

/** A single one among many zeros. */
const amongZeros = (age: number, value: number) => at(age, ...Array(100).fill(0), value);

/** A single failure fires, within that many minutes. */
const one = (metric: string, minutes = 1): Samples => ({
  metric,
  fires: [amongZeros(minutes - 1, 1)],
  silent: [at(0, 0), at(minutes, 1)],
});

/** Fewer within that many minutes are noise: scanners, or a partner's next attempt. */
const atLeast = (count: number, metric: string, minutes: number): Samples => ({
  metric,
  fires: [[...at(0, 1), ...at(minutes - 1, count - 1)]],
  silent: [at(0, count - 1), [...at(0, 1), ...at(minutes, count - 1)]],
});

/** One bad minute may pass by itself. */
const twoBadMinutesOfFive = (metric: string): Samples => ({
  metric,
  fires: [[...amongZeros(0, 1), ...amongZeros(4, 1)]],
  silent: [eachMinute(0, 4), at(0, 100), [...at(0, 1), ...at(5, 1)]],
});

/** Reading a queue hides its messages for 15 minutes at most. */
const notEmpty: Samples = {
  metric: 'ApproximateNumberOfMessagesVisible',
  fires: [amongZeros(0, 1), [...eachMinute(0, 14), ...at(15, 1)]],
  silent: [eachMinute(0, 16), [...eachMinute(0, 15), ...at(16, 1)]],
};

const expires: Samples = {
  metric: 'DaysToExpiry',
  fires: [at(0, 30), [...at(0, 31, 31), ...at(12 * 60, 30)]],
  silent: [at(0, 31), [...at(0, 31), ...at(24 * 60, 30)]],
  // After expiry, ACM publishes nothing.
  withoutData: 'keeps its state',
};

function samplesFor({ gateway, apiThrottle, lagAfter, quietAfter = 0 }: StageConfig) {
  const late = lagAfter * 60_000;
  const nearThrottle = 0.8 * apiThrottle.rate * 60;
  return {
    '<Event>/DeadLetterQueue/NotEmpty': notEmpty,
    '<Event>/Waiting': {
      metric: 'ApproximateAgeOfOldestMessage',
      fires: [amongZeros(0, 15 * 60)],
      silent: [at(0, 15 * 60 - 1, 15 * 60 - 1), at(1, 15 * 60)],
    },
    // The metric has no values: a command sets the state.
    '<Event>/Paused': { metric: 'Paused', fires: [], silent: [], withoutData: 'keeps its state' },
    Failing: {
      metric: 'Failures',
      fires: [[0, 5, 14].flatMap((age) => amongZeros(age, 1))],
      silent: [eachMinute(0, 14), [...at(0, 1), ...at(14, 1)], [...at(0, 100), ...at(5, 100)]],
    },
    // Again for the next event, although the queue is not empty.
    PutAside: one('PutAside'),
    'Quarantine/NotEmpty': notEmpty,
    'Unrouted/NotEmpty': notEmpty,
    'Receiver/Errors': twoBadMinutesOfFive('Errors'),
    'Receiver/Throttles': twoBadMinutesOfFive('Throttles'),
    'Receiver/SecretUnreadable': twoBadMinutesOfFive('SecretUnreadable'),
    'Receiver/WrongSecret': {
      metric: 'Verified',
      fires: [at(0, 0), [...at(59, 0, 0), ...at(60, 1)]],
      silent: [amongZeros(0, 1), [...at(0, 0), ...at(59, 1)], at(60, 0)],
    },
    // A new stack has no data either.
    'Receiver/Quiet': {
      metric: 'Verified',
      fires: [at(quietAfter * 60, 1), eachMinute(0, quietAfter * 60)],
      silent: [amongZeros(quietAfter * 60 - 1, 1), at(0, 1)],
      withoutData: 'fires',
    },
    Lag: {
      metric: 'DeliveryLag',
      fires: [at(0, late), [...at(0, 1), ...at(30, late), ...at(59, late)]],
      silent: [
        at(0, late - 1),
        // After an outage of ours, repeated deliveries are mixed with punctual ones.
        [...at(0, late), ...at(30, 1), ...at(59, 1)],
        at(60, late),
      ],
    },
    'Api/ServerErrors': atLeast(5, gateway === 'rest' ? '5XXError' : '5xx', 5),
    // Not each 429 is logged, so the alarm fires below the limit.
    'Api/NearThrottle': {
      metric: 'Count',
      fires: [at(0, ...Array(nearThrottle / 1_000).fill(1_000))],
      silent: [at(0, nearThrottle - 1), at(1, nearThrottle)],
    },
    'Api/Throttled': one('Throttled'),
    'Api/Unavailable': one('Unavailable'),
    'Api/TooLarge': one('TooLarge'),
    'Api/WrongAddress': atLeast(10, 'WrongAddress', 60),
    'Api/RejectionsJump': atLeast(20, 'Unauthorized', 5),
    'Api/Slow': {
      metric: 'Latency',
      fires: [[0, 5, 14].flatMap((age) => at(age, ...Array(98).fill(10), 3_000, 3_000))],
      silent: [
        [0, 5, 14].flatMap((age) => at(age, ...Array(99).fill(10), 60_000)),
        [0, 5, 14].flatMap((age) => at(age, 2_999)),
        [0, 5].flatMap((age) => at(age, 60_000)),
      ],
    },
    'Api/Blocked': atLeast(20, 'BlockedRequests', 5),
    'Api/BlockedBy<List>': one('BlockedRequests', 5),
    'Alarms/Topic/NotDelivered': one('NumberOfNotificationsFailed', 5),
    'Effects/Chat/NotDelivered': one('NumberOfNotificationsFailed', 5),
    'Effects/Review/NotDelivered': one('NumberOfNotificationsFailed', 5),
    CertificateExpires: expires,
    OwnershipCertificateExpires: expires,
    'Archive/Failing': one('ArchiveFailures', 5),
    'Canaries/ReceiverAnswers500': one('VersionError'),
    'Canaries/ReceiverDies': one('Errors'),
  } satisfies Record<AlarmName, Samples>;
}

const samplesOf = new Map(
  Object.entries(stages).map(([stage, given]) => [stage, samplesFor(parseConfig(stage, given))]),
);

const eventPath = new RegExp(`^(${eventNames.map((event) => pascalCase(event)).join('|')})/`);
const nameOf = ({ path }: StageResource) =>
  path.replace(eventPath, '<Event>/').replace(/BlockedBy\w+/, 'BlockedBy<List>') as AlarmName;

const alarmsByName = Map.groupBy((await everyStage()).ofType('AWS::CloudWatch::Alarm'), nameOf);

test('every alarm of the table is in some stage', () => {
  expect([...alarmsByName.keys()].sort()).toEqual(Object.keys(alarmTable).sort());
});

test.each([...alarmsByName])(
  'the alarm %s watches its metric, fires if it must, and is silent otherwise',
  (name, same) => {
    for (const { stage, properties } of same) {
      const samples: Samples | undefined = samplesOf.get(stage)?.[name];
      if (samples === undefined) throw new Error(`No samples for ${name}`);
      const { metric, withoutData } = samples;
      const firing = (points: readonly DataPoint[]) => fires(properties, points);
      expect(properties.MetricName).toBe(metric);
      expect(samples.fires.filter((points) => !firing(points))).toEqual([]);
      expect(samples.silent.filter(firing)).toEqual([]);
      const [afterSilence, afterAlarm] = [false, true].map((before) => fires(properties, [], before));
      expect(afterSilence).toBe(withoutData === 'fires');
      expect(afterAlarm).toBe(withoutData !== undefined);
    }
  },
);
