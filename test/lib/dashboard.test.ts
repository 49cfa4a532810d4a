import { describe, expect, test } from '@jest/globals';
import { resolveIntrinsics } from 'local-aws/template';
import { catalogue, eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase, pascalCase } from '../../lambda/events/event-names.ts';
import { metrics as reportedMetrics } from '../../lambda/metric-names.ts';
import { stageTemplate } from './stage-assembly.ts';

const template = await stageTemplate('dev');

/** Source: CloudWatch user guide, "Dashboard body structure and syntax". */
interface DashboardBody {
  readonly widgets: readonly {
    readonly type: 'alarm' | 'metric' | 'text';
    readonly y: number;
    readonly properties: {
      readonly title: string;
      readonly markdown: string;
      readonly alarms: readonly string[];
      readonly metrics: readonly (readonly unknown[])[];
      readonly annotations?: { readonly horizontal: readonly { value: number; yAxis: 'left' | 'right' }[] };
    };
  }[];
}

// A reference to a resource becomes its logical id.
const { DashboardName: name, DashboardBody: text } = resolveIntrinsics(
  template.ofType('AWS::CloudWatch::Dashboard')[0]?.properties,
  { ref: (id) => id, attribute: (id) => id },
) as Record<string, string>;
const body: DashboardBody = JSON.parse(String(text));

/** A metric as displayed in a graph. A formula has neither namespace nor name. */
function readMetric(list: readonly unknown[]) {
  const options = (typeof list.at(-1) === 'object' ? list.at(-1) : {}) as {
    readonly expression?: string;
    readonly period?: number;
    readonly yAxis?: 'right';
  };
  const [namespace = '', metricName = '', ...rest] = list
    .filter((item) => typeof item !== 'object')
    .map(String);
  const pairs = rest.flatMap((key, index) => (index % 2 === 0 ? [[key, rest[index + 1] ?? '']] : []));
  const dimensions: Readonly<Record<string, string>> = Object.fromEntries(pairs);
  return { namespace, name: metricName, dimensions, options };
}

const graphs = body.widgets.flatMap((widget) =>
  widget.type === 'metric'
    ? [{ ...widget, title: widget.properties.title, metrics: widget.properties.metrics.map(readMetric) }]
    : [],
);
const headings = (hashes: string) =>
  body.widgets.flatMap(({ type, properties }) =>
    type === 'text' && properties.markdown.startsWith(`${hashes} `)
      ? [properties.markdown.slice(hashes.length + 1).split('\n')[0]]
      : [],
  );

const shown = graphs.flatMap(({ metrics }) => metrics);
const ofAws = shown.filter(({ namespace }) => namespace.startsWith('AWS/'));
const own = shown.filter(({ namespace }) => namespace === name);
const reported = own.filter(({ dimensions }) => dimensions.service !== undefined);
const counted = own.filter(({ dimensions }) => dimensions.service === undefined);
/** The resource type for each dimension of AWS metrics. */
const typeOfDimension: Readonly<Record<string, string>> = {
  ApiId: 'AWS::ApiGatewayV2::Api',
  DeliveryStreamName: 'AWS::KinesisFirehose::DeliveryStream',
  FunctionName: 'AWS::Lambda::Function',
  QueueName: 'AWS::SQS::Queue',
  TableName: 'AWS::DynamoDB::Table',
};

test('there is one dashboard, which asks three questions from top to bottom and shows the state of every alarm', () => {
  expect(template.ofType('AWS::CloudWatch::Dashboard')).toHaveLength(1);
  expect(name).toBe('PartnerWebhooks-dev');
  expect(headings('#')).toEqual(['Are we accepting?', 'Are we keeping up?', 'What is stuck?']);
  const tops = body.widgets.map(({ y }) => y);
  expect(tops).toEqual(tops.toSorted((one, other) => one - other));
  const states = body.widgets.flatMap((widget) => (widget.type === 'alarm' ? widget.properties.alarms : []));
  const alarms = template.ofType('AWS::CloudWatch::Alarm');
  expect(states).toEqual(alarms.map(({ logicalId }) => logicalId));
});

describe('the graphs', () => {
  test('show AWS’s metrics of each resource of this stack, and of no other', () => {
    for (const { name: metricName, dimensions } of ofAws) {
      const { GlobalSecondaryIndexName, ...resources } = dimensions;
      expect(Object.keys(resources)).toHaveLength(1);
      for (const [dimension, logicalId] of Object.entries(resources)) {
        const resource = template.resources.find((candidate) => candidate.logicalId === logicalId);
        expect([metricName, resource?.type]).toEqual([metricName, typeOfDimension[dimension]]);
        if (GlobalSecondaryIndexName === undefined) continue;
        const index = expect.objectContaining({ IndexName: GlobalSecondaryIndexName });
        expect(resource?.properties.GlobalSecondaryIndexes).toContainEqual(index);
      }
    }
    for (const [dimension, type] of Object.entries(typeOfDimension)) {
      const seen = new Set(ofAws.map(({ dimensions }) => dimensions[dimension]));
      const left = template
        .ofType(type)
        .filter(({ logicalId, path }) => !seen.has(logicalId) && !path.startsWith('SmokeTest'));
      expect(left.map(({ path }) => path)).toEqual([]);
    }
  });

  test('show every metric that functions report, with its dimensions', () => {
    // A metric with the version as a dimension is another metric after each deployment.
    const lasting = Object.entries(reportedMetrics).filter(
      ([, { dimensions }]) => !(dimensions as readonly string[]).includes('version'),
    );
    expect(new Set(reported.map((metric) => metric.name))).toEqual(new Set(lasting.map(([name]) => name)));
    for (const { name: metricName, dimensions } of reported) {
      const { dimensions: wanted } = reportedMetrics[metricName as keyof typeof reportedMetrics];
      expect([metricName, Object.keys(dimensions).sort()]).toEqual([
        metricName,
        ['service', ...wanted].sort(),
      ]);
    }
  });

  test('show of our other metrics only those that log filters count', () => {
    const filters = template.ofType('AWS::Logs::MetricFilter');
    const names = filters.map(({ properties }) => properties.MetricTransformations[0].MetricName);
    expect(names).toEqual(expect.arrayContaining(counted.map((metric) => metric.name)));
  });
});

test('each event has a row, in the order of the catalogue, with its own queue, consumer and metrics and no other', () => {
  expect(headings('###')).toEqual(eventNames.map((event) => `${event}: ${catalogue[event].processing}`));
  for (const event of eventNames) {
    const row = graphs.filter(({ title }) => title.startsWith(`${event}: `));
    expect(row.map(({ title }) => title.split(': ')[1])).toEqual(['waiting', 'consumer', 'outcomes']);
    expect(new Set(row.map(({ y }) => y)).size).toBe(1);
    const owners = row.flatMap(({ metrics }) =>
      metrics.map(({ dimensions: { QueueName, FunctionName, service } }) => {
        const id = QueueName ?? FunctionName;
        return service ?? template.resources.find(({ logicalId }) => logicalId === id)?.path.split('/')[0];
      }),
    );
    expect(new Set(owners)).toEqual(new Set([pascalCase(event), kebabCase(event)]));
  }
});

// Source: CloudWatch user guide, "CloudWatch service quotas", Dashboards: metrics used in formulas count, too.
// CloudFormation accepts a template of 1 MB. The other resources need at most half of it.
test('the limits of CloudWatch and CloudFormation are kept', () => {
  expect(body.widgets.length).toBeLessThanOrEqual(500);
  for (const { metrics } of graphs) expect(metrics.length).toBeLessThanOrEqual(500);
  expect(shown.length).toBeLessThanOrEqual(2500);
  for (const { type, properties } of body.widgets) {
    if (type === 'alarm') expect(properties.alarms.length).toBeLessThanOrEqual(100);
  }
  expect(JSON.stringify(template.ofType('AWS::CloudWatch::Dashboard')).length).toBeLessThan(500_000);
});

test('each line in a graph is the threshold of an alarm, on the axis of its metric', () => {
  const alarms = template.ofType('AWS::CloudWatch::Alarm').map(({ properties }) => properties);
  const lined = graphs.filter(({ properties }) => properties.annotations !== undefined);
  expect(lined.length).toBeGreaterThan(eventNames.length);
  for (const { title, metrics, properties } of lined) {
    const fires = alarms.flatMap(({ MetricName, Threshold, Statistic, Period }) => {
      const watched = metrics.find((metric) => metric.name === MetricName);
      // The threshold of a sum over another period cannot be drawn as a line.
      if (watched === undefined || (Statistic === 'Sum' && watched.options.period !== Period)) return [];
      return `${Threshold} ${watched.options.yAxis ?? 'left'}`;
    });
    const drawn = properties.annotations?.horizontal.map(({ value, yAxis }) => `${value} ${yAxis}`) ?? [];
    expect([title, drawn.filter((line) => !fires.includes(line))]).toEqual([title, []]);
  }
});
