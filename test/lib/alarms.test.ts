import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { catalogue, eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase, pascalCase } from '../../lambda/events/event-names.ts';
import { metrics } from '../../lambda/metric-names.ts';
import { longestDescription } from '../../lib/alarms/alarm-description.ts';
import { type AlarmDefinition, alarmTable } from '../../lib/alarms/alarm-table.ts';
import { MAX_LOOK_SECONDS } from '../../lib/pipeline/queue-retention.ts';
import { logFilter } from '../../local/aws/logs/log-filter.ts';
import { stages } from '../../tools/generate/stages.ts';
import { type Resource, SynthesisedTemplate } from '../../tools/generate/synthesised-template.ts';
import { type PeriodValues, rings } from '../support/alarm-evaluation.ts';
import { sharedAssembly } from '../support/shared-assembly.ts';
import { testAssembly } from '../support/test-stack.ts';
import { stageAssembly } from './stage-assembly.ts';

const template = new SynthesisedTemplate(testAssembly());
const alarms = template.ofType('AWS::CloudWatch::Alarm');
const alarm = (path: string) => template.at('AWS::CloudWatch::Alarm', path).properties;
const pipelines = eventNames.map((event) => ({ event, path: pascalCase(event) }));

/** The entry of the table for an alarm. */
function definitionOf(path: string): AlarmDefinition | undefined {
  const found = Object.entries<AlarmDefinition>(alarmTable).find(([name]) =>
    new RegExp(`^${name.replace(/<\w+>/g, '[\\w-]+')}$`).test(path),
  );
  return found?.[1];
}

describe.each(Object.keys(stages))('every alarm of %s', (stage) => {
  let of: SynthesisedTemplate;
  let every: Resource[];
  beforeAll(async () => {
    of = new SynthesisedTemplate(await stageAssembly(stage));
    every = of.ofType('AWS::CloudWatch::Alarm');
  });
  const except = (meets: (alarm: Resource) => boolean) =>
    every.filter((one) => !meets(one)).map(({ path }) => path);

  test('tells the alarm topic when it begins and when it is over, but for what CodeDeploy reads', () => {
    const tells = ({ path, properties }: Resource) =>
      path.startsWith('Canaries/') ||
      [properties.AlarmActions, properties.OKActions].every(
        (actions) => actions?.length === 1 && of.referred(actions[0]) === 'Alarms/Topic',
      );
    expect(except(tells)).toEqual([]);
  });

  const described = (one: Resource) => describedAs(of, one, `PartnerWebhooks-${stage}`);

  test('says what users lose, what to do first, where to read on, and on lines of their own where to look', () => {
    const lines = [
      /^Impact: \S.*\. First step: \S.*\. See \S+\/operations(\.md)?#[a-z-]+/,
      /(\n(Queue|Log|Function|Topic|API|Certificate|Dashboard): https:\/\/[a-z0-9-]+\.console\.aws\.amazon\.com\/\S+)+$/,
    ].map(({ source }) => source);
    const says = (one: Resource) => new RegExp(lines.join('')).test(described(one));
    expect(except(says)).toEqual([]);
  });

  test('leads to the lines of a log that its pattern lets through', () => {
    const patterns = every.flatMap((one) => patternsOf(described(one)));
    expect(patterns.length).toBeGreaterThan(0);
    for (const pattern of patterns) expect(() => logFilter(pattern)).not.toThrow();
  });

  test('has its section in docs/operations.md', () => {
    const headings = [...readFileSync('docs/operations.md', 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, text]) =>
      String(text)
        .toLowerCase()
        .replace(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-'),
    );
    const sections = every.map((one) => described(one).split('\n')[0]?.split('#').at(-1) ?? '');
    expect([...new Set(sections)].filter((section) => !headings.includes(section))).toEqual([]);
  });

  test('rings for what is there, not for what is missing: no traffic is no fault, unless silence is', () => {
    const others: Readonly<Record<string, string>> = {
      Quiet: 'breaching',
      CertificateExpires: 'ignore',
      // Of a pause there is never a value: its alarm keeps the state that it was set to.
      Paused: 'ignore',
    };
    const treats = ({ path, properties }: Resource) => {
      const kind = path.replace('Ownership', '').split('/').at(-1) ?? '';
      return properties.TreatMissingData === (others[kind] ?? 'notBreaching');
    };
    expect(except(treats)).toEqual([]);
  });

  test('rings as the table of alarms says', () => {
    const settings = ({ timesSetting, periods }: AlarmDefinition['rings']) => ({
      ...(timesSetting === undefined ? {} : { Threshold: expect.any(Number) }),
      ...(typeof periods === 'string' && {
        EvaluationPeriods: expect.any(Number),
        DatapointsToAlarm: expect.any(Number),
      }),
    });
    for (const { path, properties } of every) {
      const { metric, rings } = definitionOf(path) as AlarmDefinition;
      const { periods = 1, periodsAtThreshold = periods } = rings;
      const { Statistic, ExtendedStatistic = Statistic, ...rung } = properties;
      expect({ path, ...rung, ExtendedStatistic }).toMatchObject({
        path,
        ExtendedStatistic: metric.statistic,
        Period: metric.period,
        Threshold: rings.threshold,
        EvaluationPeriods: periods,
        DatapointsToAlarm: periodsAtThreshold,
        ...settings(rings),
      });
    }
  });

  test('is on a metric that there is', () => {
    const counted = of.ofType('AWS::Logs::MetricFilter').map(countedMetric);
    // `Paused` has no values: commands set the state of its alarm.
    const own = [...counted, ...Object.keys(metrics), 'Paused'];
    const exists = ({ properties: { Namespace, MetricName } }: Resource) =>
      Namespace.startsWith('AWS/') || (Namespace === `PartnerWebhooks-${stage}` && own.includes(MetricName));
    expect(except(exists)).toEqual([]);
  });

  test('is on one plain metric', () => {
    expect(except(({ properties }) => properties.Metrics === undefined)).toEqual([]);
  });
});

describe('a description', () => {
  const longestName = 'x'.repeat(64);
  const runbook = (length: number) => `https://wiki.example.com/${'x'.repeat(length - 25)}`;
  /** The synthesis of a stage with the longest name. */
  const synthesis = (name: string, fields: object) =>
    sharedAssembly(name, { stage: longestName, stages: { [longestName]: fields } });

  test('fits if the name of the stage is the longest and the runbook has 120 characters', async () => {
    await synthesis('longest', { runbook: runbook(120) });
  });

  test('that does not fit ends the synthesis, which names the alarm and says what to shorten', async () => {
    await expect(synthesis('too-long', { runbook: runbook(250) })).rejects.toThrow(
      /at most 1,024 characters .* Shorten runbook, or the name of the stage:\n(.*\n)* {2}GirlScheduleChanged\/Waiting has 1,\d{3}\n/,
    );
  });
});

const consumers = pipelines.map(({ event, path }) => ({ event, path, queue: `${path}/Queue` }));
const queues = ['Quarantine', 'Unrouted', ...consumers.map(({ path }) => `${path}/DeadLetterQueue`)];
const topics = ['Alarms/Topic', 'Effects/Chat', 'Effects/Review'];

const watched: [alarm: string, metric: string, leads: string[]][] = [
  ...queues.map((queue): [string, string, string[]] => [
    `${queue}/NotEmpty`,
    `ApproximateNumberOfMessagesVisible of ${queue}`,
    [queue],
  ]),
  ...consumers.flatMap(({ event, path, queue }): [string, string, string[]][] => [
    [`${path}/Waiting`, `ApproximateAgeOfOldestMessage of ${queue}`, [queue, `${path}/Consumer/Log`]],
    [`${path}/Paused`, `Paused of ${event}`, [queue]],
  ]),
  ['Lag', 'DeliveryLag', ['Receiver/Log']],
  ['Receiver/Errors', 'Errors of Receiver/Function', ['Receiver/Log']],
  ['Receiver/Throttles', 'Throttles of Receiver/Function', ['Receiver/Function']],
  ['Receiver/SecretUnreadable', 'SecretUnreadable of receiver', ['Receiver/Log']],
  ['Receiver/WrongSecret', 'Verified', ['Receiver/Log']],
  ['Api/ServerErrors', '5xx of Api/HttpApi', ['Api/AccessLog']],
  ['Api/NearThrottle', 'Count of Api/HttpApi', ['Api/HttpApi']],
  ['Api/Slow', 'Latency of Api/HttpApi', ['Api/HttpApi']],
  ['Api/Throttled', 'Throttled', ['Api/AccessLog']],
  ['Api/Unavailable', 'Unavailable', ['Api/AccessLog']],
  ['Api/TooLarge', 'TooLarge', ['Api/AccessLog']],
  ['Api/WrongAddress', 'WrongAddress', ['Api/AccessLog']],
  ['Api/RejectionsJump', 'Unauthorized', ['Api/AccessLog']],
  ['Archive/Failing', 'ArchiveFailures', ['Archive/Log']],
  ...topics.map((topic): [string, string, string[]] => [
    `${topic}/NotDelivered`,
    `NumberOfNotificationsFailed of ${topic}`,
    [topic],
  ]),
];

test('the alarms are these', () => {
  const paths = [...watched.map(([path]) => path), 'Failing', 'PutAside'];
  expect(alarms.map(({ path }) => path).sort()).toEqual(paths.sort());
});

test('every entry of the table is an alarm of some stage', async () => {
  const assemblies = await Promise.all(['prod', 'every-setting'].map((stage) => stageAssembly(stage)));
  const made = assemblies
    .flatMap((assembly) => new SynthesisedTemplate(assembly).ofType('AWS::CloudWatch::Alarm'))
    .map(({ path }) => definitionOf(path));
  const missing = Object.entries(alarmTable).filter(([, definition]) => !made.includes(definition));
  expect(missing.map(([name]) => name)).toEqual([]);
});

describe('it rings', () => {
  test.each(queues)('for one message on %s, also while a look hides it', (queue) => {
    const notEmpty = alarm(`${queue}/NotEmpty`);
    const hidden = Array(MAX_LOOK_SECONDS / 60).fill([0]);
    expect(rings(notEmpty, [[1]])).toBe(true);
    expect(rings(notEmpty, [[1], ...hidden])).toBe(true);
    expect(rings(notEmpty, [[1], ...hidden, [0]])).toBe(false);
  });

  test.each(pipelines)('in a pause of $event a day before SQS deletes anything', ({ path }) => {
    const { MessageRetentionPeriod } = template.at('AWS::SQS::Queue', `${path}/Queue`).properties;
    const { threshold, thresholdInPause } = alarmTable['<Event>/Waiting'].rings;
    expect(MessageRetentionPeriod - thresholdInPause).toBe(24 * 60 * 60);
    expect(threshold).toBeLessThan(thresholdInPause);
  });

  // As Firehose writes it: developer guide, "Monitor using CloudWatch Logs".
  test('when Firehose could not write an object of the archive, of whichever event', () => {
    const failure =
      '{"deliveryStreamARN":"arn:aws:firehose:us-east-1:000000000000:deliverystream/s","destination":"arn:aws:s3:::b","deliveryStreamVersionId":1,"message":"Access was denied.","errorCode":"S3.AccessDenied"}';
    const [filter] = template
      .ofType('AWS::Logs::MetricFilter')
      .filter(({ properties }) => template.referred(properties.LogGroupName) === 'Archive/Log');
    expect(logFilter(filter?.properties.FilterPattern)(failure)).toBe(true);
    const [{ MetricName, MetricNamespace, MetricValue }] = filter?.properties.MetricTransformations ?? [];
    expect(MetricValue).toBe('1');
    expect(alarm('Archive/Failing')).toMatchObject({ Namespace: MetricNamespace, MetricName });
    const logs = template
      .ofType('AWS::KinesisFirehose::DeliveryStream')
      .map(({ properties }) => properties.ExtendedS3DestinationConfiguration.CloudWatchLoggingOptions)
      .map(({ Enabled, LogGroupName }) => [Enabled, template.referred(LogGroupName)]);
    expect(logs).toEqual(eventNames.map(() => [true, 'Archive/Log']));
  });

  test('as long as an event is paused: nothing but a command sets it', () => {
    expect(Object.keys(metrics)).not.toContain('Paused');
    expect(template.ofType('AWS::Logs::MetricFilter').map(countedMetric)).not.toContain('Paused');
  });

  test.each(pipelines)('saying what is lost while $event is not processed', ({ event, path }) => {
    for (const kind of ['Waiting', 'Paused', 'DeadLetterQueue/NotEmpty']) {
      const { properties } = template.at('AWS::CloudWatch::Alarm', `${path}/${kind}`);
      expect(JSON.stringify(properties.AlarmDescription)).toContain(`Impact: ${catalogue[event].impact} `);
    }
  });

  test('before the API throttles', () => {
    const { DefaultRouteSettings } = template.at('AWS::ApiGatewayV2::Stage', 'Api/Stage').properties;
    const share = alarm('Api/NearThrottle').Threshold / (DefaultRouteSettings.ThrottlingRateLimit * 60);
    expect(share).toBeGreaterThan(0.5);
    expect(share).toBeLessThan(1);
  });

  /** The logs in which a metric counts a line, by their functions. */
  const counting = (metric: string, line: object) =>
    template
      .ofType('AWS::Logs::MetricFilter')
      .filter((filter) => countedMetric(filter) === metric)
      .filter(({ properties }) => logFilter(properties.FilterPattern)(JSON.stringify(line)))
      .map(({ properties }) => template.referred(properties.LogGroupName));
  const consumerLogs = pipelines.map(({ path }) => `${path}/Consumer/Log`);
  // Source: Lambda telemetry API reference, `platform.report`.
  const report = (status: string) => ({
    time: '2026-01-31T09:00:00.000Z',
    type: 'platform.report',
    record: { requestId: 'r', metrics: { durationMs: 30_000 }, status },
  });

  test.each<[string, object]>([
    ['fails', { level: 'WARN', message: 'Failed', event: 'shop.updated' }],
    // What a table throttles fails, and is tried again.
    ['is throttled by a table', { level: 'WARN', message: 'Failed', error: 'ThrottlingException' }],
    ['times out', report('timeout')],
    ['dies', report('error')],
    ['ends before its answer', report('failure')],
  ])('where any consumer %s, in each of three periods of five minutes', (_, line) => {
    const rung = alarm('Failing');
    expect(rung.Dimensions).toBeUndefined();
    expect(counting(rung.MetricName, line)).toEqual(consumerLogs);
    expect(rings(rung, [[1], [1], [1]])).toBe(true);
    expect(rings(rung, [[1], [], [1]])).toBe(false);
  });

  test('not where consumers do what they should', () => {
    const done = { level: 'INFO', message: 'Processed', latencyMs: 12 };
    expect([done, report('success')].flatMap((line) => counting('Failures', line))).toEqual([]);
  });

  test.each([
    ['DeadLettered', consumerLogs],
    ['Unusable', ['Receiver/Log']],
    ['Parked', ['Receiver/Log']],
    ['Accepted', []],
    ['Processed', []],
  ])('anew for each that is put aside, whatever lies there already: %s', (message, logs) => {
    const rung = alarm('PutAside');
    expect(rung.Dimensions).toBeUndefined();
    expect(rings(rung, [[1]])).toBe(true);
    expect(counting(rung.MetricName, { message })).toEqual(logs);
  });

  test.each([
    ['Throttled', '{ $.status = "429" }'],
    ['Unavailable', '{ ($.status = "502") || ($.status = "503") || ($.status = "504") }'],
    ['TooLarge', '{ $.status = "413" }'],
    ['WrongAddress', '{ ($.method = "POST") && (($.status = "403") || ($.status = "404")) }'],
    ['Unauthorized', '{ $.status = "401" }'],
  ])('for answers that the access log counts as %s: %s', (MetricName, pattern) => {
    expect(filterOf(pattern)).toMatchObject({
      MetricNamespace: 'PartnerWebhooks-dev',
      MetricName,
      MetricValue: '1',
    });
  });
});

describe('it rings for what nobody would hear of', () => {
  let every: SynthesisedTemplate;
  beforeAll(async () => {
    every = new SynthesisedTemplate(await stageAssembly('every-setting'));
  });
  const settings = stages['every-setting'] as {
    readonly quietAfter: number;
    readonly lagAfter: number;
    readonly domain: { readonly certificateArn: string; readonly ownershipCertificateArn: string };
    readonly events: { readonly 'shop.updated': { readonly quietAfter: number; readonly lagAfter: number } };
  };
  const MINUTE = 60_000;
  const hours = (count: number, values: PeriodValues) => Array.from({ length: count }, () => values);

  test('wrong signatures for an hour, and nothing that proves the secret', () => {
    const rung = alarm('Receiver/WrongSecret');
    expect(rung).toMatchObject({ Namespace: 'PartnerWebhooks-dev', MetricName: 'Verified', Period: 3600 });
    expect(rings(rung, [[0]])).toBe(true);
    expect(rings(rung, [[1], [0, 0, 0]])).toBe(true);
  });

  test('not wrong signatures among right ones, and not silence', () => {
    const rung = alarm('Receiver/WrongSecret');
    expect(rings(rung, [[0, 1, 0]])).toBe(false);
    expect(rings(rung, [[0], []])).toBe(false);
  });

  test.each([
    [
      'Receiver/Quiet',
      settings.quietAfter,
      { Namespace: 'PartnerWebhooks-every-setting', MetricName: 'Verified' },
    ],
    [
      'ShopUpdated/Quiet',
      settings.events['shop.updated'].quietAfter,
      { Namespace: 'AWS/SQS', MetricName: 'NumberOfMessagesSent' },
    ],
  ])('%s: nothing accepted for as many hours as configured, missing data included', (path, after, metric) => {
    const rung = every.at('AWS::CloudWatch::Alarm', path).properties;
    expect(rung).toMatchObject({ ...metric, Period: 3600 });
    expect(rung.Dimensions?.map(({ Value }: { Value: unknown }) => every.referred(Value))).toEqual(
      path === 'Receiver/Quiet' ? undefined : ['ShopUpdated/Queue'],
    );
    expect(rings(rung, [[1], ...hours(after, [])])).toBe(true);
    expect(rings(rung, [[1], ...hours(after, [0])])).toBe(true);
    expect(rings(rung, [[1], ...hours(after - 1, [])])).toBe(false);
  });

  test('no silence where no hours are given', () => {
    expect(alarms.filter(({ path }) => path.endsWith('/Quiet'))).toEqual([]);
    const quiet = every.ofType('AWS::CloudWatch::Alarm').filter(({ path }) => path.endsWith('/Quiet'));
    expect(quiet.map(({ path }) => path).sort()).toEqual(['Receiver/Quiet', 'ShopUpdated/Quiet']);
  });

  test.each([
    ['Lag', settings.lagAfter, undefined],
    ['ShopUpdated/Lag', settings.events['shop.updated'].lagAfter, [{ Name: 'event', Value: 'shop.updated' }]],
  ])(
    '%s: half of the deliveries in an hour that are late, however few they are',
    (path, after, Dimensions) => {
      const rung = every.at('AWS::CloudWatch::Alarm', path).properties;
      expect(rung).toMatchObject({
        Namespace: 'PartnerWebhooks-every-setting',
        MetricName: 'DeliveryLag',
        Period: 3_600,
      });
      expect(rung.Dimensions).toEqual(Dimensions);
      const late = after * MINUTE;
      expect(rings(rung, [[1, late, late]])).toBe(true);
      expect(rings(rung, [[late]])).toBe(true);
      // What is repeated after an outage of ours comes among what is on time.
      expect(rings(rung, [[1, 1, late]])).toBe(false);
      expect(rings(rung, [[late - 1]])).toBe(false);
      expect(rings(rung, [[]])).toBe(false);
    },
  );

  test('no lag of a single event that the stage does not ask for', () => {
    const lags = every.ofType('AWS::CloudWatch::Alarm').filter(({ path }) => path.endsWith('Lag'));
    expect(lags.map(({ path }) => path).sort()).toEqual(['Lag', 'ShopUpdated/Lag']);
  });

  test('deliveries that are an hour late, where nothing is configured', () => {
    expect(alarm('Lag').Threshold).toBe(60 * MINUTE);
  });

  test.each([
    ['CertificateExpires', settings.domain.certificateArn],
    ['OwnershipCertificateExpires', settings.domain.ownershipCertificateArn],
  ])('%s: thirty days before', (path, arn) => {
    const rung = every.at('AWS::CloudWatch::Alarm', path).properties;
    expect(rung).toMatchObject({
      Namespace: 'AWS/CertificateManager',
      MetricName: 'DaysToExpiry',
      Dimensions: [{ Name: 'CertificateArn', Value: arn }],
      Period: 86_400,
    });
    expect(rings(rung, [[31], [31, 30]])).toBe(true);
    expect(rings(rung, [[31, 31]])).toBe(false);
    expect(rings(rung, [[]])).toBe(false);
  });
});

describe('it watches what it is named after, and leads there', () => {
  test.each(watched)('%s: %s, %j', (path, metric, resources) => {
    const { MetricName, Dimensions = [] } = alarm(path);
    const of = Dimensions.map(({ Value }: { Value: unknown }) =>
      typeof Value === 'string' ? Value : template.referred(Value),
    );
    expect([MetricName, ...of].join(' of ')).toBe(metric);
    expect(leadsTo(template, template.at('AWS::CloudWatch::Alarm', path))).toEqual(resources);
  });

  test.each(['Failing', 'PutAside'])('%s to the dashboard, which shows which event it is', (path) => {
    const described = describedAs(
      template,
      template.at('AWS::CloudWatch::Alarm', path),
      'PartnerWebhooks-dev',
    );
    expect(described).toContain('#dashboards/dashboard/PartnerWebhooks-dev');
  });

  test('each canary to the log of the function that it takes back', async () => {
    const prod = new SynthesisedTemplate(await stageAssembly('prod'));
    const canaries = prod.ofType('AWS::CloudWatch::Alarm').filter(({ path }) => path.startsWith('Canaries/'));
    for (const canary of canaries) {
      const event = eventNames.find((name) => canary.path.startsWith(`Canaries/${kebabCase(name)}-`));
      const owner = event === undefined ? 'Receiver' : `${pascalCase(event)}/Consumer`;
      expect([canary.path, ...new Set(leadsTo(prod, canary))]).toEqual([canary.path, `${owner}/Log`]);
    }
  });
});

describe('CloudWatch', () => {
  test('may publish to the alarm topic, for alarms of this account', () => {
    const policy = template.resourcePolicyOf(template.at('AWS::SNS::Topic', 'Alarms/Topic'));
    expect(policy).toContainEqual(
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    );
  });

  test('may use the topic key', () => {
    const { KeyPolicy } = template.at('AWS::KMS::Key', 'TopicKey').properties;
    expect(KeyPolicy.Statement).toContainEqual(
      expect.objectContaining({
        Effect: 'Allow',
        Action: expect.arrayContaining(['kms:Decrypt', 'kms:GenerateDataKey*']),
        Principal: { Service: 'cloudwatch.amazonaws.com' },
      }),
    );
  });
});

/** The metric that a filter counts. */
const countedMetric = ({ properties }: Resource): string => properties.MetricTransformations[0].MetricName;

/** What the filter of the access log with a pattern counts. */
function filterOf(pattern: string) {
  const filters = template.ofType('AWS::Logs::MetricFilter').map(({ properties }) => properties);
  const found = filters.find(({ FilterPattern }) => FilterPattern === pattern);
  expect(template.referred(found?.LogGroupName)).toBe('Api/AccessLog');
  return found?.MetricTransformations[0];
}

/** The filter patterns of the logs that a description leads to, as the console decodes them. */
function patternsOf(description: string): string[] {
  const links = [...description.matchAll(/log-events\$3FfilterPattern\$3D(\S+)\$26start\$3D-\d+$/gm)];
  return links.map(([, pattern = '']) =>
    decodeURIComponent(decodeURIComponent(pattern.replaceAll('$', '%'))),
  );
}

/** The description of an alarm as it is mailed, with the longest names that CloudFormation may put in. */
function describedAs(template: SynthesisedTemplate, { properties }: Resource, stackName: string): string {
  const types = new Map(template.resources.map(({ logicalId, type }) => [logicalId, type]));
  return longestDescription(properties.AlarmDescription, { stackName, types });
}

/** The resources that the description of an alarm leads to, by their path, in its order. */
function leadsTo(template: SynthesisedTemplate, { properties }: Resource): string[] {
  const parts: readonly unknown[] = properties.AlarmDescription['Fn::Join']?.[1] ?? [];
  return parts.flatMap((part) => {
    const isPseudo = typeof part === 'string' || String((part as { Ref?: string }).Ref).startsWith('AWS::');
    if (isAccessLog(part)) return ['Api/AccessLog'];
    return isPseudo ? [] : [template.referred(part)];
  });
}

const isAccessLog = (part: unknown) => typeof part === 'object' && part !== null && 'Fn::Select' in part;
