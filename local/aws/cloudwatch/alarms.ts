import * as z from 'zod/mini';
import { AwsError } from '../aws-error.ts';
import { type JsonObject, textOf, textsOf } from '../json.ts';
import type { KeptState } from '../kept/kept-state.ts';

/** Of each page of DescribeAlarms, unless told, and at most. Source: CloudWatch API reference, "DescribeAlarms". */
const PAGE = 50;
const LARGEST_PAGE = 100;

/** Characters of the reason that SetAlarmState takes. Source: CloudWatch API reference, "SetAlarmState". */
const LONGEST_REASON = 1_023;

/** Of an SNS message. Source: SNS API reference, "Publish". */
const LONGEST_SUBJECT = 100;

const STATES = ['OK', 'ALARM', 'INSUFFICIENT_DATA'] as const;

type State = (typeof STATES)[number];

/** The field with what is told of a state, which is a topic. */
const ACTIONS: Record<State, string> = {
  OK: 'OKActions',
  ALARM: 'AlarmActions',
  INSUFFICIENT_DATA: 'InsufficientDataActions',
};

/** An alarm as PutMetricAlarm takes it; what is not named here is told again by DescribeAlarms. */
export interface AlarmDefinition extends JsonObject {
  AlarmName: string;
}

/** What is set by calls. */
const standing = z.object({
  actionsEnabled: z.boolean(),
  /** Where a call has given it another one than the template. */
  threshold: z.optional(z.number()),
  state: z.enum(STATES),
  reason: z.string(),
  /** Epoch seconds of the last time that the state or its reason was set. */
  updatedAt: z.number(),
  /** Epoch seconds since when it is in this state. */
  transitionedAt: z.number(),
});

interface Alarm extends z.infer<typeof standing> {
  readonly definition: AlarmDefinition;
  readonly arn: string;
}

/** The alarms of CloudWatch, in memory. There are no metrics: an alarm has the state that it was last set to. */
export interface Alarms {
  /** Makes an alarm, or changes one, which keeps its state. */
  put(definition: AlarmDefinition): void;
  remove(name: string): void;
  answer(operation: string, parameters: JsonObject): Promise<JsonObject>;
}

interface AlarmsOptions {
  region: string;
  accountId: string;
  /** Publishes to an SNS topic. */
  publish(message: { topicArn: string; subject: string; text: string }): Promise<unknown>;
  /** @default nothing is kept */
  kept?: KeptState | undefined;
}

export function createAlarms({ region, accountId, publish, kept }: AlarmsOptions): Alarms {
  const alarms = new Map<string, Alarm>();
  const shelf = kept?.shelf('alarm', standing);
  const before = new Map(shelf?.entries());

  function keep({ definition, arn: _arn, ...set }: Alarm): void {
    shelf?.put(definition.AlarmName, set);
  }

  const operations: Record<string, (parameters: JsonObject) => JsonObject | Promise<JsonObject>> = {
    DescribeAlarms(parameters) {
      const names = textsOf(parameters, 'AlarmNames');
      const prefix = textOf(parameters, 'AlarmNamePrefix') ?? '';
      const state = textOf(parameters, 'StateValue');
      const found = [...alarms.values()].filter(
        ({ definition: { AlarmName }, ...alarm }) =>
          (names === undefined || names.length === 0 || names.includes(AlarmName)) &&
          AlarmName.startsWith(prefix) &&
          (state === undefined || alarm.state === state),
      );
      const start = Number(textOf(parameters, 'NextToken') ?? 0);
      const end = start + Math.min(Number(parameters.MaxRecords ?? PAGE), LARGEST_PAGE);
      return {
        MetricAlarms: found.slice(start, end).map(described),
        CompositeAlarms: [],
        ...(end < found.length && { NextToken: String(end) }),
      };
    },

    /** An action is taken where the state is another one than before, and the alarm is not muted. */
    async SetAlarmState(parameters) {
      const alarm = alarms.get(textOf(parameters, 'AlarmName') ?? '');
      if (alarm === undefined) throw new AwsError('ResourceNotFound', '', { status: 404 });
      const state = STATES.find((one) => one === parameters.StateValue);
      if (state === undefined) {
        throw new AwsError('ValidationError', `StateValue must be one of ${STATES.join(', ')}`);
      }
      const reason = textOf(parameters, 'StateReason');
      if (reason === undefined || reason.length > LONGEST_REASON) {
        throw new AwsError('ValidationError', `StateReason must have at most ${LONGEST_REASON} characters`);
      }
      const earlier = alarm.state;
      const now = Date.now();
      Object.assign(alarm, { state, reason, updatedAt: now / 1000 });
      if (state !== earlier) alarm.transitionedAt = now / 1000;
      keep(alarm);
      if (state === earlier) return {};
      if (alarm.actionsEnabled) await act(alarm, earlier, now);
      return {};
    },

    /** Of an alarm that there is: another threshold, and whether it acts. */
    PutMetricAlarm(parameters) {
      const alarm = alarms.get(textOf(parameters, 'AlarmName') ?? '');
      if (alarm === undefined) {
        throw new AwsError(
          'ValidationError',
          'The local AWS endpoint changes alarms of its stack, and makes none',
        );
      }
      const threshold = Number(parameters.Threshold);
      if (!Number.isFinite(threshold)) throw new AwsError('ValidationError', 'Threshold must be a number');
      alarm.threshold = threshold;
      alarm.actionsEnabled = parameters.ActionsEnabled !== false && parameters.ActionsEnabled !== 'false';
      keep(alarm);
      return {};
    },

    /** Of no metric: nothing measures here. */
    GetMetricStatistics: () => ({ Datapoints: [] }),

    DisableAlarmActions: (parameters) => enableActions(parameters, false),
    EnableAlarmActions: (parameters) => enableActions(parameters, true),
  };

  function enableActions(parameters: JsonObject, enabled: boolean): JsonObject {
    // CloudWatch says nothing of a name that it does not know.
    for (const name of textsOf(parameters, 'AlarmNames') ?? []) {
      const alarm = alarms.get(name);
      if (alarm === undefined) continue;
      alarm.actionsEnabled = enabled;
      keep(alarm);
    }
    return {};
  }

  /** Tells the topics of the new state, with the fields that CloudWatch writes. */
  async function act({ definition, arn, state, reason }: Alarm, before: State, now: number): Promise<void> {
    const { AlarmName, AlarmDescription, Namespace, MetricName, Dimensions } = definition;
    const text = JSON.stringify({
      AlarmName,
      AlarmDescription,
      AWSAccountId: accountId,
      NewStateValue: state,
      NewStateReason: reason,
      StateChangeTime: new Date(now).toISOString().replace('Z', '+0000'),
      Region: region,
      AlarmArn: arn,
      OldStateValue: before,
      Trigger: { Namespace, MetricName, Dimensions },
    });
    const subject = `${state}: "${AlarmName}" in ${region}`.slice(0, LONGEST_SUBJECT);
    for (const topicArn of textsOf(definition, ACTIONS[state]) ?? []) {
      await publish({ topicArn, subject, text });
    }
  }

  return {
    put(definition) {
      const now = Date.now() / 1000;
      const existing = alarms.get(definition.AlarmName);
      alarms.set(definition.AlarmName, {
        arn: `arn:aws:cloudwatch:${region}:${accountId}:alarm:${definition.AlarmName}`,
        actionsEnabled: true,
        state: 'INSUFFICIENT_DATA',
        reason: 'Unchecked: Initial alarm creation',
        updatedAt: now,
        transitionedAt: now,
        ...before.get(definition.AlarmName),
        ...existing,
        definition,
      });
    },

    remove(name) {
      alarms.delete(name);
    },

    async answer(operation, parameters) {
      const carryOut = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
      if (carryOut === undefined) {
        throw new AwsError(
          'UnknownOperationException',
          `The local AWS endpoint does not offer CloudWatch's ${operation}, only ${Object.keys(operations).join(', ')}.`,
        );
      }
      return carryOut(parameters);
    },
  };
}

function described(alarm: Alarm): JsonObject {
  return {
    ...alarm.definition,
    ...(alarm.threshold !== undefined && { Threshold: alarm.threshold }),
    AlarmArn: alarm.arn,
    ActionsEnabled: alarm.actionsEnabled,
    StateValue: alarm.state,
    StateReason: alarm.reason,
    StateUpdatedTimestamp: alarm.updatedAt,
    StateTransitionedTimestamp: alarm.transitionedAt,
  };
}
