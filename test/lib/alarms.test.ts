import { describe, expect, test } from '@jest/globals';
import { resolveIntrinsics } from 'local-aws/intrinsics';
import { logFilter } from 'local-aws/log-filter';
import type { SynthesisedTemplate, TemplateResource } from 'local-aws/synthesised-template';
import { stages } from '../../bin/stages.ts';
import { catalogue, eventNames } from '../../lambda/events/catalogue.ts';
import { pascalCase } from '../../lambda/events/event-names.ts';
import { metrics } from '../../lambda/metric-names.ts';
import { alarmTable } from '../../lib/alarms/alarm-table.ts';
import {
  everyStage,
  resourcePolicyOf,
  type StageResource,
  stageTemplate,
  templateOf,
} from './stage-assembly.ts';

const ALARM = 'AWS::CloudWatch::Alarm';
const { ofType, breaking } = await everyStage();
const filters = ofType('AWS::Logs::MetricFilter');
const template = await stageTemplate('dev');
const alarm = (path: string) => template.at(ALARM, path).properties;

const LONGEST: Readonly<Record<string, string>> = {
  'AWS::AccountId': '111122223333',
  'AWS::Region': 'ap-northeast-3',
  'AWS::StackId': 'arn:aws:cloudformation:…:stack/…/0a1b2c3d-0000-11f0-8000-0123456789ab',
  'AWS::URLSuffix': 'amazonaws.com.cn',
};
/** Maximum characters of generated names. Sources: quotas of the services. */
const NAME_LENGTHS: Readonly<Record<string, number>> = {
  'AWS::ApiGateway::RestApi': 10,
  'AWS::ApiGatewayV2::Api': 10,
  'AWS::Lambda::Function': 64,
  'AWS::SNS::Topic': 256,
  'AWS::SQS::Queue': 80,
};

/** The description of an alarm in its mail, with the longest names that CloudFormation may insert. */
function describedAs(of: SynthesisedTemplate, stage: string, { properties }: TemplateResource): string {
  const nameOf = (id: string) => {
    const type = of.resources.find(({ logicalId }) => logicalId === id)?.type ?? '';
    const name = `PartnerWebhooks-${stage}-${id}-A1B2C3D4E5F6G`.slice(0, NAME_LENGTHS[type]);
    return type === 'AWS::SNS::Topic' ? `arn:aws-us-gov:sns:ap-northeast-3:111122223333:${name}` : name;
  };
  const references = { ref: (name: string) => LONGEST[name] ?? nameOf(name), attribute: nameOf };
  return String(resolveIntrinsics(properties.AlarmDescription, references));
}

/** The resources that the description of an alarm refers to, by their path. */
function leadsTo({ template: of, properties }: StageResource): string[] {
  const parts: readonly unknown[] = properties.AlarmDescription['Fn::Join']?.[1] ?? [];
  return parts.flatMap((part) => {
    // The name of the access log, which ends with an id of the stack.
    if (typeof part === 'object' && part !== null && 'Fn::Select' in part) return ['Api/AccessLog'];
    const isPseudo = typeof part === 'string' || String((part as { Ref?: string }).Ref).startsWith('AWS::');
    return isPseudo ? [] : [of.referred(part)];
  });
}

const countedMetric = ({ properties }: TemplateResource): string =>
  properties.MetricTransformations[0].MetricName;

describe('every alarm', () => {
  test('notifies the alarm topic when it begins and ends, and nobody if CodeDeploy reads it', () => {
    const notifies = ({ path, template: of, properties }: StageResource) =>
      [properties.AlarmActions, properties.OKActions].every((actions) =>
        path.startsWith('Canaries/')
          ? actions === undefined
          : actions?.length === 1 && of.referred(actions[0]) === 'Alarms/Topic',
      );
    expect(breaking(ALARM, notifies)).toEqual([]);
  });

  test('describes the loss of users, the first step, the section of the runbook, and links', () => {
    const text =
      /^Impact: \S.*\. First step: \S.*\. See \S+\/operations(\.md)?#[a-z-]+(\n(Queue|Log|Function|Topic|API|Certificate|Dashboard): https:\/\/[a-z0-9-]+\.console\.aws\.amazon\.com\/\S+)+$/;
    const isWhole = (description: string) => text.test(description) && !description.includes('<');
    expect(breaking(ALARM, (one) => isWhole(describedAs(one.template, one.stage, one)))).toEqual([]);
    for (const event of eventNames) {
      const { AlarmDescription } = alarm(`${pascalCase(event)}/Waiting`);
      expect(JSON.stringify(AlarmDescription)).toContain(`Impact: ${catalogue[event].impact} `);
    }
  });

  test('links to its queue, topic, function or API, or to its log', () => {
    const ownerOf = (path: string) => path.split('/')[0];
    const leads = (one: StageResource) => {
      const watched = one.template.resources.filter(({ logicalId }) =>
        JSON.stringify(one.properties.Dimensions ?? []).includes(`"${logicalId}"`),
      );
      const owners = watched.map(({ path }) => ownerOf(path));
      return owners.length === 0 || leadsTo(one).every((path) => owners.includes(ownerOf(path)));
    };
    expect(breaking(ALARM, leads)).toEqual([]);
  });

  test('uses one existing metric without metric math', () => {
    // `Paused` has no values: commands set the state of its alarm.
    const own = [...filters.map(countedMetric), ...Object.keys(metrics), 'Paused'];
    const exists = ({ stage, properties: { Metrics, Namespace, MetricName } }: StageResource) =>
      Metrics === undefined &&
      (Namespace.startsWith('AWS/') ||
        (Namespace === `PartnerWebhooks-${stage}` && own.includes(MetricName)));
    expect(breaking(ALARM, exists)).toEqual([]);
  });

  // Source: CloudWatch API reference, `PutMetricAlarm`.
  test('has a description of at most 1,024 characters, also with the longest runbook and name of a stage', async () => {
    const stage = 'x'.repeat(32);
    const longest = await templateOf(stage, { ...stages['every-setting'], runbook: 'x'.repeat(150) });
    const lengths = longest.ofType(ALARM).map((one) => describedAs(longest, stage, one).length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(1_024);
  });
});

test('every queue and topic has alarms, except the queue for probes of the smoke test', () => {
  const owners = ['AWS::SQS::Queue', 'AWS::SNS::Topic']
    .flatMap((type) => template.ofType(type))
    .filter(({ path }) => path !== 'SmokeTestQueue');
  for (const { logicalId, path } of owners) {
    const ofTopic = path.endsWith('/Topic') || path.startsWith('Effects/');
    const ofQueue = path.endsWith('/Queue') ? path.replace('/Queue', '/Waiting') : `${path}/NotEmpty`;
    const { Dimensions } = alarm(ofTopic ? `${path}/NotDelivered` : ofQueue);
    expect(JSON.stringify(Dimensions)).toContain(`["${logicalId}",`);
  }
});

test('CloudWatch may publish to the alarm topic, for alarms of this account', () => {
  expect(resourcePolicyOf(template, template.at('AWS::SNS::Topic', 'Alarms/Topic'))).toContainEqual(
    expect.objectContaining({
      ...{ Effect: 'Allow', Principal: { Service: 'cloudwatch.amazonaws.com' }, Action: 'sns:Publish' },
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    }),
  );
});

test('during a pause, the alarm on waiting messages fires a day before SQS deletes one', () => {
  const { MessageRetentionPeriod } = template.at('AWS::SQS::Queue', 'ShopUpdated/Queue').properties;
  const { threshold, thresholdInPause } = alarmTable['<Event>/Waiting'].fires;
  expect(MessageRetentionPeriod - thresholdInPause).toBe(24 * 60 * 60);
  expect(threshold).toBeLessThan(thresholdInPause);
});

describe('a line of a log', () => {
  /** The logs in which the metric counts the line, and the values that it gets. */
  const counting = (metric: string, line: object) =>
    template
      .ofType('AWS::Logs::MetricFilter')
      .filter((filter) => countedMetric(filter) === metric)
      .filter(({ properties }) => logFilter(properties.FilterPattern)(JSON.stringify(line)))
      .map(({ properties }) => ({
        log: template.referred(properties.LogGroupName),
        value: properties.MetricTransformations[0].MetricValue,
      }));
  const logsOf = (metric: string, line: object) => counting(metric, line).map(({ log }) => log);
  const consumerLogs = eventNames.map((event) => `${pascalCase(event)}/Consumer/Log`);

  // Source: Lambda telemetry API reference, `platform.report`.
  const report = (status: string) => ({
    time: '2026-01-31T09:00:00.000Z',
    type: 'platform.report',
    record: { requestId: 'r', metrics: { durationMs: 30_000 }, status },
  });

  test.each([
    { metric: 'Failures', line: { level: 'WARN', message: 'Failed', error: 'ThrottlingException' } },
    { metric: 'Failures', line: report('timeout') },
    { metric: 'Failures', line: report('error') },
    { metric: 'Failures', line: report('failure') },
    { metric: 'Failures', line: report('success'), counts: false },
    { metric: 'Failures', line: { level: 'INFO', message: 'Processed', latencyMs: 12 }, counts: false },
    { metric: 'PutAside', line: { message: 'DeadLettered' } },
    { metric: 'PutAside', line: { message: 'Processed' }, counts: false },
  ])('of any consumer counts in $metric: $line', ({ metric, line, counts = true }) => {
    expect(logsOf(metric, line)).toEqual(counts ? consumerLogs : []);
    const { Dimensions, MetricName } = alarm(metric === 'Failures' ? 'Failing' : metric);
    expect({ Dimensions, MetricName }).toEqual({ Dimensions: undefined, MetricName: metric });
  });

  // Firehose's format: developer guide, "Monitor using CloudWatch Logs".
  test('counts if Firehose could not write an object of the archive', () => {
    const message =
      '{"deliveryStreamARN":"arn:aws:firehose:us-east-1:000000000000:deliverystream/s","destination":"arn:aws:s3:::b","deliveryStreamVersionId":1,"message":"Access was denied.","errorCode":"S3.AccessDenied"}';
    expect(logsOf(alarm('Archive/Failing').MetricName, JSON.parse(message))).toEqual(['Archive/Log']);
    for (const { properties } of template.ofType('AWS::KinesisFirehose::DeliveryStream')) {
      const { Enabled, LogGroupName } =
        properties.ExtendedS3DestinationConfiguration.CloudWatchLoggingOptions;
      expect([Enabled, template.referred(LogGroupName)]).toEqual([true, 'Archive/Log']);
    }
  });

  test.each([
    { line: { message: 'Accepted', lagMs: 7 }, verified: '1', lag: '$.lagMs' },
    { line: { message: 'Parked' }, verified: '1', putAside: '1' },
    { line: { message: 'Ignored' }, verified: '1' },
    { line: { message: 'Unusable' }, verified: '1', putAside: '1' },
    { line: { message: 'Rejected', reason: 'wrong-signature' }, verified: '0' },
    { line: { message: 'Rejected', reason: 'malformed-signature' } },
    { line: { message: 'SmokeTest', outcome: 'Accepted', lagMs: 7 } },
  ])('of the receiver has values: $line', ({ line, verified, lag, putAside }) => {
    const counted = (metric: string) =>
      counting(metric, line).find(({ log }) => log === 'Receiver/Log')?.value;
    expect([counted('Verified'), counted('DeliveryLag'), counted('PutAside')]).toEqual([
      verified,
      lag,
      putAside,
    ]);
  });
});
