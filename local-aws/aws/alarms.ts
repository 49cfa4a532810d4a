import { AwsError } from './errors.ts';
import { type JsonObject, textOf, textsOf } from './json.ts';
import { ACCOUNT_ID, arnOf, type Operations, REGION } from './service-forms.ts';

/** Alarms per answer. Source: CloudWatch API reference, "DescribeAlarms". */
const DEFAULT_PAGE_SIZE = 50;

/** Maximum characters of a subject. Source: SNS API reference, "Publish". */
const MAX_SUBJECT_LENGTH = 100;

/** Fields with the topics to notify, by state. */
const ACTIONS: Readonly<Record<string, string>> = {
  OK: 'OKActions',
  ALARM: 'AlarmActions',
  INSUFFICIENT_DATA: 'InsufficientDataActions',
};

/** An alarm as PutMetricAlarm defines it. */
export interface MetricAlarm extends JsonObject {
  AlarmName: string;
}

/** Fields that SetAlarmState sets, and the alarm's ARN. All others are settings. */
const STATE = 'AlarmArn StateValue StateReason StateUpdatedTimestamp StateTransitionedTimestamp'.split(' ');

type Publish = (message: { topicArn: string; subject: string; text: string }) => Promise<unknown>;

/** The alarms of CloudWatch, in memory. There are no metrics: an alarm keeps the state that was last set. */
export function createAlarms(publish: Publish) {
  /** Alarms by name, as DescribeAlarms returns them. */
  const alarms = new Map<string, JsonObject>();

  const operations: Operations = {
    DescribeAlarms: (parameters) => page([...alarms.values()], parameters),

    /** Sets the state of an alarm. Notifies if the state changes and the alarm's actions are enabled. */
    async SetAlarmState({ AlarmName, StateValue, StateReason }) {
      const alarm = alarms.get(String(AlarmName));
      if (alarm === undefined) throw new AwsError('ResourceNotFound', '', { status: 404 });
      const before = alarm.StateValue;
      const now = Date.now() / 1000;
      Object.assign(alarm, { StateValue, StateReason, StateUpdatedTimestamp: now });
      if (StateValue === before) return {};
      alarm.StateTransitionedTimestamp = now;
      if (alarm.ActionsEnabled) await notify(alarm, publish, before);
      return {};
    },

    /** Replaces all settings of an existing alarm. Its state is kept. */
    PutMetricAlarm(settings) {
      const name = textOf(settings, 'AlarmName') ?? '';
      const existing = alarms.get(name);
      if (existing === undefined) {
        throw invalid('The local AWS endpoint changes alarms of its stack, but creates none');
      }
      if (settings.Threshold === undefined) throw invalid('Threshold must be a number');
      const state = Object.fromEntries(STATE.map((field) => [field, existing[field]]));
      alarms.set(name, { ActionsEnabled: true, ...settings, ...state });
      return {};
    },

    /** Answers without datapoints, because the local stack has no metrics. */
    GetMetricStatistics: () => ({ Datapoints: [] }),
  };

  return {
    put(definition: MetricAlarm): void {
      const now = Date.now() / 1000;
      const state = {
        AlarmArn: arnOf('cloudwatch', `alarm:${definition.AlarmName}`),
        StateValue: 'INSUFFICIENT_DATA',
        StateReason: 'Unchecked: Initial alarm creation',
        StateUpdatedTimestamp: now,
        StateTransitionedTimestamp: now,
      };
      alarms.set(definition.AlarmName, { ActionsEnabled: true, ...definition, ...state });
    },

    operations,
  };
}

function page(alarms: readonly JsonObject[], parameters: JsonObject): JsonObject {
  const names = textsOf(parameters, 'AlarmNames') ?? [];
  const prefix = textOf(parameters, 'AlarmNamePrefix') ?? '';
  const state = textOf(parameters, 'StateValue');
  const found = alarms.filter(
    ({ AlarmName, StateValue }) =>
      (names.length === 0 || names.includes(String(AlarmName))) &&
      String(AlarmName).startsWith(prefix) &&
      (state === undefined || StateValue === state),
  );
  const start = Number(textOf(parameters, 'NextToken') ?? 0);
  const end = start + Number(parameters.MaxRecords ?? DEFAULT_PAGE_SIZE);
  return {
    MetricAlarms: found.slice(start, end),
    CompositeAlarms: [],
    ...(end < found.length && { NextToken: String(end) }),
  };
}

/** Notifies the topics of the new state, in CloudWatch's message format. */
async function notify(alarm: JsonObject, publish: Publish, before: JsonObject[string]): Promise<void> {
  const { AlarmName, AlarmDescription, AlarmArn, Namespace, MetricName, Dimensions, StateValue } = alarm;
  const text = JSON.stringify({
    AlarmName,
    AlarmDescription,
    AWSAccountId: ACCOUNT_ID,
    NewStateValue: StateValue,
    NewStateReason: alarm.StateReason,
    StateChangeTime: new Date(Number(alarm.StateUpdatedTimestamp) * 1000).toISOString().replace('Z', '+0000'),
    Region: REGION,
    AlarmArn,
    OldStateValue: before,
    Trigger: { Namespace, MetricName, Dimensions },
  });
  const subject = `${StateValue}: "${AlarmName}" in ${REGION}`.slice(0, MAX_SUBJECT_LENGTH);
  for (const topicArn of textsOf(alarm, ACTIONS[String(StateValue)] ?? '') ?? []) {
    await publish({ topicArn, subject, text });
  }
}

const invalid = (message: string) => new AwsError('ValidationError', message);
