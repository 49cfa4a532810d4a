import { describe, expect, test } from '@jest/globals';
import { resolveIntrinsics } from 'local-aws/intrinsics';
import { metrics as reportedMetrics } from '../../lambda/metric-names.ts';
import { stageTemplate } from './stage-assembly.ts';

const template = await stageTemplate('dev');

/** Source: CloudWatch user guide, "Dashboard body structure and syntax". */
interface DashboardBody {
  readonly widgets: readonly {
    readonly type: 'alarm' | 'metric' | 'text';
    readonly properties: {
      readonly alarms: readonly string[];
      readonly metrics: readonly (readonly unknown[])[];
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
  const [namespace = '', metricName = '', ...rest] = list
    .filter((item) => typeof item !== 'object')
    .map(String);
  const pairs = rest.flatMap((key, index) => (index % 2 === 0 ? [[key, rest[index + 1] ?? '']] : []));
  const dimensions: Readonly<Record<string, string>> = Object.fromEntries(pairs);
  return { namespace, name: metricName, dimensions };
}

const graphs = body.widgets.flatMap((widget) =>
  widget.type === 'metric' ? [widget.properties.metrics.map(readMetric)] : [],
);
const shown = graphs.flat();
const ofAws = shown.filter(({ namespace }) => namespace.startsWith('AWS/'));
const own = shown.filter(({ namespace }) => namespace === name);
const reported = own.filter(({ dimensions }) => dimensions.service !== undefined);
/** The resource type for each dimension of AWS metrics. */
const typeOfDimension: Readonly<Record<string, string>> = {
  ApiId: 'AWS::ApiGatewayV2::Api',
  DeliveryStreamName: 'AWS::KinesisFirehose::DeliveryStream',
  FunctionName: 'AWS::Lambda::Function',
  QueueName: 'AWS::SQS::Queue',
};

test('there is one dashboard, which shows the state of every alarm', () => {
  expect(template.ofType('AWS::CloudWatch::Dashboard')).toHaveLength(1);
  expect(name).toBe('PartnerWebhooks-dev');
  const states = body.widgets.flatMap((widget) => (widget.type === 'alarm' ? widget.properties.alarms : []));
  const alarms = template.ofType('AWS::CloudWatch::Alarm');
  expect(states).toEqual(alarms.map(({ logicalId }) => logicalId));
});

describe('the graphs', () => {
  test('show AWS’s metrics of each resource of this stack, and of no other', () => {
    for (const { name: metricName, dimensions } of ofAws) {
      expect(Object.keys(dimensions)).toHaveLength(1);
      for (const [dimension, logicalId] of Object.entries(dimensions)) {
        const resource = template.resources.find((candidate) => candidate.logicalId === logicalId);
        expect([metricName, resource?.type]).toEqual([metricName, typeOfDimension[dimension]]);
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
      ([, dimensions]) => !(dimensions as readonly string[]).includes('version'),
    );
    expect(new Set(reported.map((metric) => metric.name))).toEqual(new Set(lasting.map(([name]) => name)));
    for (const { name: metricName, dimensions } of reported) {
      const wanted = reportedMetrics[metricName as keyof typeof reportedMetrics];
      expect([metricName, Object.keys(dimensions).sort()]).toEqual([
        metricName,
        ['service', ...wanted].sort(),
      ]);
    }
  });
});

// Source: CloudWatch API reference, "Dashboard body structure and syntax", properties of an alarm widget.
test('the widget of all alarms holds them: 100', () => {
  expect(template.ofType('AWS::CloudWatch::Alarm').length).toBeLessThanOrEqual(100);
});
