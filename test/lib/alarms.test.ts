import { describe, expect, test } from '@jest/globals';
import { logFilter } from 'local-aws/endpoint';
import type { TemplateResource } from 'local-aws/template';
import { stages } from '../../bin/stages.ts';
import { catalogue, eventNames } from '../../lambda/events/catalogue.ts';
import { pascalCase } from '../../lambda/events/event-names.ts';
import { metrics } from '../../lambda/metric-names.ts';
import { longestDescription } from '../../lib/alarms/alarm-description.ts';
import { alarmTable } from '../../lib/alarms/alarm-table.ts';
import { sharedAssembly } from '../support/test-assembly.ts';
import { resourcesOfEveryStage, type StageResource, stageTemplate } from './stage-assembly.ts';

const ofEveryStage = await resourcesOfEveryStage();
const everyAlarm = ofEveryStage.filter(({ type }) => type === 'AWS::CloudWatch::Alarm');
const template = await stageTemplate('dev');
const everySetting = await stageTemplate('every-setting');
const alarm = (path: string, of = template) => of.at('AWS::CloudWatch::Alarm', path).properties;

/** The alarms of any stage that break a rule. */
const breaking = (rule: (alarm: StageResource) => boolean) =>
  everyAlarm.filter((one) => !rule(one)).map(({ stage, path }) => `${stage} ${path}`);

/** The description of an alarm in its mail, with the longest names that CloudFormation may insert. */
function describedAs({ stage, template: of, properties }: StageResource): string {
  const types = new Map(of.resources.map(({ logicalId, type }) => [logicalId, type]));
  return longestDescription(properties.AlarmDescription, { stackName: `PartnerWebhooks-${stage}`, types });
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
    expect(breaking(notifies)).toEqual([]);
  });

  test('describes the loss of users, the first step, the section of the runbook, and links', () => {
    const text =
      /^Impact: \S.*\. First step: \S.*\. See \S+\/operations(\.md)?#[a-z-]+(\n(Queue|Log|Function|Topic|API|Certificate|Dashboard): https:\/\/[a-z0-9-]+\.console\.aws\.amazon\.com\/\S+)+$/;
    expect(breaking((one) => text.test(describedAs(one)))).toEqual([]);
  });

  test('links to its queue, topic, function or API, or to its log', () => {
    const ownerOf = (path: string) => path.split('/')[0];
    const leads = (one: StageResource) => {
      const watched = one.template.resources.filter(({ logicalId }) =>
        JSON.stringify(one.properties.Dimensions ?? []).includes(`"${logicalId}"`),
      );
      // An event is quiet because the receiver gets none.
      const owners = one.path.endsWith('/Quiet') ? ['Receiver'] : watched.map(({ path }) => ownerOf(path));
      return owners.length === 0 || leadsTo(one).every((path) => owners.includes(ownerOf(path)));
    };
    expect(breaking(leads)).toEqual([]);
  });

  test('links to the log in which its metric is counted, or to the dashboard if there are several', () => {
    const filters = Map.groupBy(
      ofEveryStage.filter(({ type }) => type === 'AWS::Logs::MetricFilter'),
      (filter) => `${filter.stage} ${countedMetric(filter)}`,
    );
    const leads = (one: StageResource) => {
      const counting = filters.get(`${one.stage} ${one.properties.MetricName}`) ?? [];
      const logs = new Set(counting.map(({ properties }) => one.template.referred(properties.LogGroupName)));
      if (logs.size > 1)
        return describedAs(one).includes(`#dashboards/dashboard/PartnerWebhooks-${one.stage}`);
      return [...logs].every((log) => leadsTo(one).includes(log));
    };
    expect(breaking(leads)).toEqual([]);
  });

  test('links to log lines with a pattern that CloudWatch Logs accepts', () => {
    const links = everyAlarm.flatMap((one) => [
      ...describedAs(one).matchAll(/log-events\$3FfilterPattern\$3D(\S+)\$26start\$3D-\d+$/gm),
    ]);
    expect(links.length).toBeGreaterThan(eventNames.length);
    for (const [, encoded = ''] of links) {
      const pattern = decodeURIComponent(decodeURIComponent(encoded.replaceAll('$', '%')));
      expect(() => logFilter(pattern)).not.toThrow();
    }
  });

  test('uses one existing metric without metric math', () => {
    const counted = ofEveryStage.filter(({ type }) => type === 'AWS::Logs::MetricFilter').map(countedMetric);
    // `Paused` has no values: commands set the state of its alarm.
    const own = [...counted, ...Object.keys(metrics), 'Paused'];
    const exists = ({ stage, properties: { Metrics, Namespace, MetricName } }: StageResource) =>
      Metrics === undefined &&
      (Namespace.startsWith('AWS/') ||
        (Namespace === `PartnerWebhooks-${stage}` && own.includes(MetricName)));
    expect(breaking(exists)).toEqual([]);
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

test('CloudWatch may publish to the alarm topic and use its key, for alarms of this account', () => {
  const principal = { Effect: 'Allow', Principal: { Service: 'cloudwatch.amazonaws.com' } };
  expect(template.resourcePolicyOf(template.at('AWS::SNS::Topic', 'Alarms/Topic'))).toContainEqual(
    expect.objectContaining({
      ...principal,
      Action: 'sns:Publish',
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    }),
  );
  expect(template.at('AWS::KMS::Key', 'TopicKey').properties.KeyPolicy.Statement).toContainEqual(
    expect.objectContaining({ ...principal, Action: ['kms:Decrypt', 'kms:GenerateDataKey*'] }),
  );
});

describe('a description', () => {
  /** The synthesis of a stage with the longest name. */
  const synthesis = (runbookLength: number) => {
    const stage = 'x'.repeat(64);
    const runbook = `https://wiki.example.com/${'x'.repeat(runbookLength - 25)}`;
    const overrides = { stage, stages: { [stage]: { runbook } } };
    // The app itself checks the lengths of descriptions.
    return sharedAssembly(`runbook-of-${runbookLength}`, overrides, false);
  };

  test('fits with the longest stage name and a runbook of 120 characters', async () => {
    await synthesis(120);
  });

  test('that is too long ends the synthesis, which names the alarm and what to shorten', async () => {
    await expect(synthesis(250)).rejects.toThrow(
      /at most 1,024 characters .* Shorten runbook, or the name of the stage:\n(.*\n)* {2}GirlScheduleChanged\/Waiting has 1,\d{3}\n/,
    );
  });

  test.each(eventNames)('of an alarm of %s names its impact', (event) => {
    for (const kind of ['Waiting', 'Paused', 'DeadLetterQueue/NotEmpty']) {
      const { AlarmDescription } = alarm(`${pascalCase(event)}/${kind}`);
      expect(JSON.stringify(AlarmDescription)).toContain(`Impact: ${catalogue[event].impact} `);
    }
  });
});

/** The logs in which a metric counts a line. */
const counting = (metric: string, line: object) =>
  template
    .ofType('AWS::Logs::MetricFilter')
    .filter((filter) => countedMetric(filter) === metric)
    .filter(({ properties }) => logFilter(properties.FilterPattern)(JSON.stringify(line)))
    .map(({ properties }) => template.referred(properties.LogGroupName));
const consumerLogs = eventNames.map((event) => `${pascalCase(event)}/Consumer/Log`);

test('during a pause, the alarm on waiting messages fires a day before SQS deletes one', () => {
  const { MessageRetentionPeriod } = template.at('AWS::SQS::Queue', 'ShopUpdated/Queue').properties;
  const { threshold, thresholdInPause } = alarmTable['<Event>/Waiting'].fires;
  expect(MessageRetentionPeriod - thresholdInPause).toBe(24 * 60 * 60);
  expect(threshold).toBeLessThan(thresholdInPause);
});

describe('a log line counts as a failure', () => {
  // Source: Lambda telemetry API reference, `platform.report`.
  const report = (status: string) => ({
    time: '2026-01-31T09:00:00.000Z',
    type: 'platform.report',
    record: { requestId: 'r', metrics: { durationMs: 30_000 }, status },
  });

  test.each([
    { what: 'fails', line: { level: 'WARN', message: 'Failed', error: 'ThrottlingException' } },
    { what: 'times out', line: report('timeout') },
    { what: 'dies', line: report('error') },
    { what: 'ends before its answer', line: report('failure') },
  ])('if any consumer $what', ({ line }) => {
    expect(counting(alarm('Failing').MetricName, line)).toEqual(consumerLogs);
    expect(alarm('Failing').Dimensions).toBeUndefined();
  });

  test('not if consumers work', () => {
    const done = { level: 'INFO', message: 'Processed', latencyMs: 12 };
    expect([done, report('success')].flatMap((line) => counting('Failures', line))).toEqual([]);
  });

  test.each([
    { message: 'DeadLettered', logs: consumerLogs },
    { message: 'Processed', logs: [] },
  ])('for each event that any consumer puts aside: $message', ({ message, logs }) => {
    expect(counting(alarm('PutAside').MetricName, { message })).toEqual(logs);
    expect(alarm('PutAside').Dimensions).toBeUndefined();
  });

  // Firehose's format: developer guide, "Monitor using CloudWatch Logs".
  test('if Firehose could not write an object of the archive', () => {
    const message =
      '{"deliveryStreamARN":"arn:aws:firehose:us-east-1:000000000000:deliverystream/s","destination":"arn:aws:s3:::b","deliveryStreamVersionId":1,"message":"Access was denied.","errorCode":"S3.AccessDenied"}';
    expect(counting(alarm('Archive/Failing').MetricName, JSON.parse(message))).toEqual(['Archive/Log']);
    for (const { properties } of template.ofType('AWS::KinesisFirehose::DeliveryStream')) {
      const { Enabled, LogGroupName } =
        properties.ExtendedS3DestinationConfiguration.CloudWatchLoggingOptions;
      expect([Enabled, template.referred(LogGroupName)]).toEqual([true, 'Archive/Log']);
    }
  });
});

describe('an alarm of a setting', () => {
  const settings = JSON.parse(JSON.stringify(stages['every-setting']));
  const pathsLike = (end: string, of: typeof template) =>
    of
      .ofType('AWS::CloudWatch::Alarm')
      .map(({ path }) => path)
      .filter((path) => path.endsWith(end));

  test('exists only as configured; deliveries are late after an hour by default', () => {
    expect(pathsLike('Quiet', everySetting).sort()).toEqual(['Receiver/Quiet', 'ShopUpdated/Quiet']);
    expect(pathsLike('Quiet', template)).toEqual([]);
    expect(alarm('Lag').Threshold).toBe(60 * 60_000);
  });

  test('watches all deliveries, or the queue of its event', () => {
    for (const path of ['Receiver/Quiet', 'Lag'])
      expect(alarm(path, everySetting).Dimensions).toBeUndefined();
    const [{ Value }] = alarm('ShopUpdated/Quiet', everySetting).Dimensions;
    expect(everySetting.referred(Value)).toBe('ShopUpdated/Queue');
  });

  test.each([
    { path: 'CertificateExpires', Value: settings.domain.certificateArn },
    { path: 'OwnershipCertificateExpires', Value: settings.domain.ownershipCertificateArn },
  ])('watches its certificate: $path', ({ path, Value }) => {
    expect(alarm(path, everySetting).Dimensions).toEqual([{ Name: 'CertificateArn', Value }]);
  });
});

test.each([
  {
    line: { message: 'Accepted', lagMs: 7 },
    values: { Verified: ['1'], DeliveryLag: ['$.lagMs'], PutAside: [] },
  },
  { line: { message: 'Parked' }, values: { Verified: ['1'], DeliveryLag: [], PutAside: ['1'] } },
  { line: { message: 'Unusable' }, values: { Verified: ['1'], DeliveryLag: [], PutAside: ['1'] } },
  {
    line: { message: 'Rejected', reason: 'wrong-signature' },
    values: { Verified: ['0'], DeliveryLag: [], PutAside: [] },
  },
  {
    line: { message: 'Rejected', reason: 'malformed-signature' },
    values: { Verified: [], DeliveryLag: [], PutAside: [] },
  },
  {
    line: { message: 'SmokeTest', outcome: 'Accepted', lagMs: 7 },
    values: { Verified: [], DeliveryLag: [], PutAside: [] },
  },
])("the receiver's line $line becomes $values", ({ line, values }) => {
  const counted = template
    .ofType('AWS::Logs::MetricFilter')
    .filter(({ properties }) => template.referred(properties.LogGroupName) === 'Receiver/Log')
    .filter(({ properties }) => logFilter(properties.FilterPattern)(JSON.stringify(line)));
  const valuesOf = (metric: string) =>
    counted
      .filter((filter) => countedMetric(filter) === metric)
      .map(({ properties }) => properties.MetricTransformations[0].MetricValue);
  expect(Object.fromEntries(Object.keys(values).map((name) => [name, valuesOf(name)]))).toEqual(values);
});
