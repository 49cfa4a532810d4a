import { AwsError } from './errors.ts';
import { type JsonObject, textOf, textsOf } from './json.ts';
import { ACCOUNT_ID, arnOf, type Operations, REGION } from './services.ts';

/** Alarms per answer. Source: CloudWatch API reference, "DescribeAlarms". */
const DEFAULT_PAGE_SIZE = 50;

/** Maximum characters of a subject. Source: SNS API reference, "Publish". */
const MAX_SUBJECT_LENGTH = 100;

/** Settings that are numbers. In a form, they are texts. */
const NUMBERS = ['DatapointsToAlarm', 'EvaluationPeriods', 'Period', 'Threshold'];

type AlarmState = 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';

/** Name of the alarm's field with the topics to notify of each state. */
const ACTIONS: Record<AlarmState, string> = {
  OK: 'OKActions',
  ALARM: 'AlarmActions',
  INSUFFICIENT_DATA: 'InsufficientDataActions',
};

/** An alarm with the fields of PutMetricAlarm. DescribeAlarms returns all of them. */
export interface MetricAlarm extends JsonObject {
  AlarmName: string;
}

interface Alarm {
  definition: MetricAlarm;
  readonly arn: string;
  actionsEnabled: boolean;
  state: AlarmState;
  reason: string;
  /** Epoch seconds when the state or its reason was last set, even to the same value. */
  updatedAt: number;
  /** Epoch seconds of the last change of the state. */
  transitionedAt: number;
}

type Publish = (message: { topicArn: string; subject: string; text: string }) => Promise<unknown>;

/** The alarms of CloudWatch, in memory. There are no metrics: an alarm keeps the state that was last set. */
export function createAlarms(publish: Publish) {
  const alarms = new Map<string, Alarm>();

  const operations: Operations = {
    DescribeAlarms: (parameters) => page([...alarms.values()], parameters),

    /** Sets the state of an alarm. Notifies if the state changes and the alarm's actions are enabled. */
    async SetAlarmState(parameters) {
      const alarm = alarms.get(textOf(parameters, 'AlarmName') ?? '');
      if (alarm === undefined) throw new AwsError('ResourceNotFound', '', { status: 404 });
      const state = textOf(parameters, 'StateValue') as AlarmState;
      const reason = textOf(parameters, 'StateReason') ?? '';
      const earlier = alarm.state;
      const now = Date.now();
      Object.assign(alarm, { state, reason, updatedAt: now / 1000 });
      if (state !== earlier) alarm.transitionedAt = now / 1000;
      if (state !== earlier && alarm.actionsEnabled) await notify(alarm, publish, earlier, now);
      return {};
    },

    /** Replaces all settings of an existing alarm. Its state is kept. */
    PutMetricAlarm({ Action: _action, Version: _version, ...parameters }) {
      const AlarmName = textOf(parameters, 'AlarmName') ?? '';
      const alarm = alarms.get(AlarmName);
      if (alarm === undefined) {
        throw invalid('The local AWS endpoint changes alarms of its stack, but creates none');
      }
      if (!Number.isFinite(Number(parameters.Threshold))) throw invalid('Threshold must be a number');
      const settings = Object.entries(parameters).map(([name, value]) => [
        name,
        NUMBERS.includes(name) ? Number(value) : value,
      ]);
      alarm.definition = { ...Object.fromEntries(settings), AlarmName };
      alarm.actionsEnabled = areActionsEnabled(parameters);
      return {};
    },

    /** Answers without datapoints, because the local stack has no metrics. */
    GetMetricStatistics: () => ({ Datapoints: [] }),

    DisableAlarmActions: (parameters) => enableActions(parameters, false),
    EnableAlarmActions: (parameters) => enableActions(parameters, true),
  };

  function enableActions(parameters: JsonObject, enabled: boolean): JsonObject {
    // Names of alarms that do not exist are ignored, as in CloudWatch.
    for (const name of textsOf(parameters, 'AlarmNames') ?? []) {
      const alarm = alarms.get(name);
      if (alarm !== undefined) alarm.actionsEnabled = enabled;
    }
    return {};
  }

  return {
    put(definition: MetricAlarm): void {
      const now = Date.now() / 1000;
      alarms.set(definition.AlarmName, {
        arn: arnOf('cloudwatch', `alarm:${definition.AlarmName}`),
        actionsEnabled: areActionsEnabled(definition),
        state: 'INSUFFICIENT_DATA',
        reason: 'Unchecked: Initial alarm creation',
        updatedAt: now,
        transitionedAt: now,
        definition,
      });
    },

    operations,
  };
}

/** In a form, `false` is a text. */
const areActionsEnabled = ({ ActionsEnabled }: JsonObject) => String(ActionsEnabled) !== 'false';

function page(alarms: readonly Alarm[], parameters: JsonObject): JsonObject {
  const names = textsOf(parameters, 'AlarmNames');
  const prefix = textOf(parameters, 'AlarmNamePrefix') ?? '';
  const state = textOf(parameters, 'StateValue');
  const found = alarms.filter(
    ({ definition: { AlarmName }, ...alarm }) =>
      (names === undefined || names.length === 0 || names.includes(AlarmName)) &&
      AlarmName.startsWith(prefix) &&
      (state === undefined || alarm.state === state),
  );
  const start = Number(textOf(parameters, 'NextToken') ?? 0);
  const end = start + Number(parameters.MaxRecords ?? DEFAULT_PAGE_SIZE);
  return {
    MetricAlarms: found.slice(start, end).map(described),
    CompositeAlarms: [],
    ...(end < found.length && { NextToken: String(end) }),
  };
}

/** Notifies the topics of the new state, in CloudWatch's message format. */
async function notify(alarm: Alarm, publish: Publish, before: AlarmState, now: number): Promise<void> {
  const { definition, arn, state, reason } = alarm;
  const { AlarmName, AlarmDescription, Namespace, MetricName, Dimensions } = definition;
  const text = JSON.stringify({
    AlarmName,
    AlarmDescription,
    AWSAccountId: ACCOUNT_ID,
    NewStateValue: state,
    NewStateReason: reason,
    StateChangeTime: new Date(now).toISOString().replace('Z', '+0000'),
    Region: REGION,
    AlarmArn: arn,
    OldStateValue: before,
    Trigger: { Namespace, MetricName, Dimensions },
  });
  const subject = `${state}: "${AlarmName}" in ${REGION}`.slice(0, MAX_SUBJECT_LENGTH);
  for (const topicArn of textsOf(definition, ACTIONS[state]) ?? []) {
    await publish({ topicArn, subject, text });
  }
}

function invalid(message: string): AwsError {
  return new AwsError('ValidationError', message);
}

function described(alarm: Alarm): JsonObject {
  return {
    ...alarm.definition,
    AlarmArn: alarm.arn,
    ActionsEnabled: alarm.actionsEnabled,
    StateValue: alarm.state,
    StateReason: alarm.reason,
    StateUpdatedTimestamp: alarm.updatedAt,
    StateTransitionedTimestamp: alarm.transitionedAt,
  };
}
