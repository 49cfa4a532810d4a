import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { App, Stack } from 'aws-cdk-lib';
import { catalogue, eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase, pascalCase } from '../../lambda/events/event-names.ts';
import { metrics as reportedMetrics } from '../../lambda/metric-names.ts';
import { logMetrics } from '../../lib/alarms/log-metrics.ts';
import { prices } from '../../lib/prices.ts';
import { readCloudAssembly } from '../../local/template/cloud-assembly.ts';
import { resolveIntrinsics } from '../../local/template/intrinsics.ts';
import { SynthesisedTemplate } from '../../tools/generate/synthesised-template.ts';
import { testAssembly } from '../support/test-stack.ts';

const template = new SynthesisedTemplate(testAssembly());
const stack = readCloudAssembly(testAssembly());
const { name, body } = readDashboard(testAssembly());

/** Source: CloudWatch user guide, "Dashboard body structure and syntax". */
interface DashboardBody {
  readonly widgets: readonly {
    readonly type: 'alarm' | 'metric' | 'text';
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
    readonly properties: {
      readonly title: string;
      readonly markdown: string;
      readonly alarms: readonly string[];
      readonly metrics: readonly (readonly unknown[])[];
      readonly yAxis: { readonly left: { readonly label: string } };
      readonly annotations?: { readonly horizontal: readonly { value: number; yAxis: 'left' | 'right' }[] };
    };
  }[];
}

/** The dashboard of an assembly. A reference to a resource is its logical id. */
function readDashboard(assembly: string): { readonly name: string; readonly body: DashboardBody } {
  const [dashboard, ...others] = new SynthesisedTemplate(assembly).ofType('AWS::CloudWatch::Dashboard');
  expect(others).toEqual([]);
  const { DashboardName, DashboardBody } = resolveIntrinsics(dashboard?.properties, {
    ref: (id) => id,
    attribute: (id) => id,
  }) as Record<string, string>;
  return { name: String(DashboardName), body: JSON.parse(String(DashboardBody)) };
}

/** A metric as it stands in a graph; a formula has neither namespace nor name. */
interface ShownMetric {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly options: {
    readonly id?: string;
    readonly label?: string;
    readonly expression?: string;
    readonly period?: number;
    readonly stat?: string;
    readonly yAxis?: 'right';
  };
}

function readMetric(list: readonly unknown[]): ShownMetric {
  const options = (typeof list.at(-1) === 'object' ? list.at(-1) : {}) as ShownMetric['options'];
  const [namespace = '', metricName = '', ...rest] = list
    .filter((item) => typeof item !== 'object')
    .map(String);
  const pairs = rest.flatMap((key, index) => (index % 2 === 0 ? [[key, rest[index + 1] ?? '']] : []));
  return { namespace, name: metricName, dimensions: Object.fromEntries(pairs), options };
}

const graphsOf = ({ widgets }: DashboardBody) =>
  widgets.flatMap((widget) =>
    widget.type === 'metric'
      ? [{ ...widget, title: widget.properties.title, metrics: widget.properties.metrics.map(readMetric) }]
      : [],
  );
const headingsOf = ({ widgets }: DashboardBody, hashes: string) =>
  widgets.flatMap((widget) =>
    widget.type === 'text' && widget.properties.markdown.startsWith(`${hashes} `)
      ? [widget.properties.markdown.slice(hashes.length + 1).split('\n')[0]]
      : [],
  );

const graphs = graphsOf(body);
const shown = graphs.flatMap(({ metrics }) => metrics);
const ofAws = shown.filter(({ namespace }) => namespace.startsWith('AWS/'));
const own = shown.filter(({ namespace }) => namespace === stack.name);
const reported = own.filter(({ dimensions }) => dimensions.service !== undefined);
const counted = own.filter(({ dimensions }) => dimensions.service === undefined);
const graph = (title: string) => {
  const found = graphs.find((candidate) => candidate.title === title);
  if (found === undefined) throw new Error(`No graph ${title}`);
  return found;
};

/** The type that each dimension of AWS' metrics names one of. */
const typeOfDimension: Readonly<Record<string, string>> = {
  ApiId: 'AWS::ApiGatewayV2::Api',
  DeliveryStreamName: 'AWS::KinesisFirehose::DeliveryStream',
  FunctionName: 'AWS::Lambda::Function',
  QueueName: 'AWS::SQS::Queue',
  TableName: 'AWS::DynamoDB::Table',
  TopicName: 'AWS::SNS::Topic',
  LogGroupName: 'AWS::Logs::LogGroup',
};

describe('the dashboard', () => {
  test('is one, named after the stack', () => {
    expect(name).toBe(stack.name);
  });

  test('asks four questions from top to bottom', () => {
    expect(headingsOf(body, '#')).toEqual([
      'Are we accepting?',
      'Are we keeping up?',
      'What is stuck?',
      'What does it cost?',
    ]);
    const tops = body.widgets.map(({ y }) => y);
    expect(tops).toEqual(tops.toSorted((one, other) => one - other));
  });

  test('shows the state of every alarm and makes none', () => {
    const states = body.widgets.flatMap((widget) =>
      widget.type === 'alarm' ? widget.properties.alarms : [],
    );
    const alarms = template.ofType('AWS::CloudWatch::Alarm');
    expect(states).toEqual(alarms.map(({ logicalId }) => logicalId));
    expect(alarms.filter(({ path }) => path.startsWith('Dashboard/'))).toEqual([]);
  });

  test('has a place in 24 columns for each widget, and no two widgets at one place', () => {
    const taken = new Map<string, string>();
    for (const { x, y, width, height, type } of body.widgets) {
      expect(x + width).toBeLessThanOrEqual(24);
      for (let column = x; column < x + width; column++) {
        for (let row = y; row < y + height; row++) {
          expect(taken.get(`${column},${row}`)).toBeUndefined();
          taken.set(`${column},${row}`, `${type} at ${x},${y}`);
        }
      }
    }
  });

  test('says the unit of every axis and draws no point for less than a minute', () => {
    for (const { title, properties, metrics } of graphs) {
      expect([title, properties.yAxis.left.label]).toEqual([title, expect.stringMatching(/./)]);
      for (const { options } of metrics) expect([60, 300, 3600, 86400]).toContain(options.period);
    }
  });

  test('defines every id that a formula uses, and writes numbers as metric math takes them', () => {
    for (const { metrics } of graphs) {
      const ids = metrics.flatMap(({ options }) => options.id ?? []);
      expect(new Set(ids).size).toBe(ids.length);
      for (const { options } of metrics.filter((metric) => metric.options.expression !== undefined)) {
        const words = options.expression?.match(/[A-Za-z_]\w*/g) ?? [];
        expect(words.filter((word) => !['SUM', 'FILL', ...ids].includes(word))).toEqual([]);
      }
    }
  });
});

describe('what the dashboard shows', () => {
  test('of AWS are metrics of resources of this stack', () => {
    for (const { name: metricName, dimensions } of ofAws) {
      const { GlobalSecondaryIndexName, ...resources } = dimensions;
      expect(Object.keys(resources)).toHaveLength(1);
      for (const [dimension, logicalId] of Object.entries(resources)) {
        const resource = template.resources.find((candidate) => candidate.logicalId === logicalId);
        expect([metricName, resource?.type]).toEqual([metricName, typeOfDimension[dimension]]);
        if (GlobalSecondaryIndexName !== undefined) {
          expect(resource?.properties.GlobalSecondaryIndexes).toContainEqual(
            expect.objectContaining({ IndexName: GlobalSecondaryIndexName }),
          );
        }
      }
    }
  });

  test.each(Object.entries(typeOfDimension))('forgets no %s', (dimension, type) => {
    const seen = new Set(ofAws.map(({ dimensions }) => dimensions[dimension]));
    // The alarm topic sends mail, and is no part of what an event costs.
    const left = template
      .ofType(type)
      .filter(
        ({ logicalId, path }) => !seen.has(logicalId) && !/^((Alarms|SmokeTest)\/|Archive\/Log$)/.test(path),
      );
    expect(left.map(({ path }) => path)).toEqual([]);
  });

  test('forgets no index of a table', () => {
    const indexes = template
      .ofType('AWS::DynamoDB::Table')
      .flatMap(({ properties }) => properties.GlobalSecondaryIndexes ?? [])
      .map(({ IndexName }) => IndexName);
    const seen = ofAws.map(({ dimensions }) => dimensions.GlobalSecondaryIndexName);
    expect(new Set(seen.filter((index) => index !== undefined))).toEqual(new Set(indexes));
  });

  test('of the functions are all the metrics that they report, by the dimensions that they report', () => {
    // What has the version as a dimension is another metric after each deployment.
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

  test('is by services that are there', () => {
    const services = template
      .ofType('AWS::Lambda::Function')
      .map(({ properties }) => properties.Environment?.Variables?.POWERTOOLS_SERVICE_NAME);
    for (const { dimensions } of reported) expect(services).toContain(dimensions.service);
  });

  test('of the logs is what a filter counts', () => {
    const filters = template
      .ofType('AWS::Logs::MetricFilter')
      .map(({ properties }) => properties.MetricTransformations[0].MetricName);
    expect([...new Set(counted.map((metric) => metric.name))]).toEqual([
      'Throttled',
      'Unavailable',
      'TooLarge',
      'WrongAddress',
      'DeliveryLag',
      'EffectLatency',
    ]);
    expect(filters).toEqual(expect.arrayContaining(counted.map((metric) => metric.name)));
  });

  test('is nothing else', () => {
    const formulas = shown.filter(({ options }) => options.expression !== undefined);
    expect(ofAws.length + own.length + formulas.length).toBe(shown.length);
  });
});

describe('the row of each event', () => {
  test('is there, in the order of the catalogue', () => {
    expect(headingsOf(body, '###')).toEqual(
      eventNames.map((event) => `${event}: ${catalogue[event].processing}`),
    );
  });

  test.each(eventNames)('%s shows its own queue, consumer and metrics and no other', (event) => {
    const titles = ['waiting', 'consumer', 'outcomes'];
    const row = titles.map((title) => graph(`${event}: ${title}`));
    expect(new Set(row.map(({ y }) => y)).size).toBe(1);
    const owners = row.flatMap(({ metrics }) =>
      metrics.map(({ dimensions: { QueueName, FunctionName, service } }) => {
        const id = QueueName ?? FunctionName;
        return service ?? template.resources.find(({ logicalId }) => logicalId === id)?.path.split('/')[0];
      }),
    );
    expect(new Set(owners)).toEqual(new Set([pascalCase(event), kebabCase(event)]));
  });

  test('comes with a further event of the index', async () => {
    const project = await mkdtemp(join(tmpdir(), 'partner-webhooks-further-event-'));
    try {
      for (const path of ['bin', 'lib', 'lambda', 'check-node.js', 'package.json', 'tsconfig.json']) {
        await cp(path, join(project, path), { recursive: true });
      }
      await symlink(resolve('node_modules'), join(project, 'node_modules'));
      const file = (path: string) => join(project, path);
      const index = await readFile('lambda/events/index.ts', 'utf8');
      await writeFile(
        file('lambda/events/index.ts'),
        index.replace(
          'export const events = {',
          `$&\n'example.unknown': { ...shopUpdated, processing: 'Do it' },`,
        ),
      );
      await mkdir(file('lambda/events/example-unknown'));
      const consumer = await readFile('lambda/events/shop-updated/consumer.ts', 'utf8');
      await writeFile(
        file('lambda/events/example-unknown/consumer.ts'),
        consumer.replaceAll('shop.updated', 'example.unknown'),
      );
      const { context } = JSON.parse(await readFile('cdk.json', 'utf8'));
      await promisify(execFile)(process.execPath, ['bin/app.ts'], {
        cwd: project,
        env: {
          ...process.env,
          NODE_OPTIONS: '',
          CDK_OUTDIR: file('cdk.out'),
          CDK_CONTEXT_JSON: JSON.stringify(context),
        },
      });
      const { body: ofMore } = readDashboard(file('cdk.out'));
      expect(headingsOf(ofMore, '###')).toHaveLength(eventNames.length + 1);
      expect(headingsOf(ofMore, '###')).toContain('example.unknown: Do it');
      expect(graphsOf(ofMore).map(({ title }) => title)).toContain('example.unknown: outcomes');
    } finally {
      await rm(project, { recursive: true, force: true });
    }
  });
});

describe('the limits of CloudWatch', () => {
  // Source: CloudWatch user guide, "CloudWatch service quotas", Dashboards: what formulas use counts, too.
  test('are kept: 500 widgets, 500 metrics in a widget, 2,500 in all, 100 alarms in a widget', () => {
    expect(body.widgets.length).toBeLessThanOrEqual(500);
    for (const { metrics } of graphs) expect(metrics.length).toBeLessThanOrEqual(500);
    expect(shown.length).toBeLessThanOrEqual(2500);
    for (const widget of body.widgets) {
      if (widget.type === 'alarm') expect(widget.properties.alarms.length).toBeLessThanOrEqual(100);
    }
  });

  // CloudWatch says no limit of the body; CloudFormation takes a template of 1 MB ("CloudFormation quotas"),
  // which the other resources need half of at the most.
  test('and of CloudFormation are kept: half of a template', () => {
    const [dashboard] = template.ofType('AWS::CloudWatch::Dashboard');
    expect(JSON.stringify(dashboard?.properties).length).toBeLessThan(500_000);
  });
});

describe('the cost', () => {
  const memory = 512;
  const charges: readonly (readonly [label: string, price: number])[] = [
    ['API Gateway requests', prices.httpApiRequest],
    ['Lambda requests', prices.lambdaRequest],
    [`Lambda time at ${memory} MB`, (prices.lambdaGigabyteSecondArm * memory) / 1024 / 1000],
    ['SQS requests, at most', prices.sqsRequest + prices.sqsFairQueueRequest],
    ['DynamoDB writes', prices.dynamodbWriteUnit],
    ['DynamoDB reads', prices.dynamodbReadUnit],
    ['SNS publishes', prices.snsPublish],
    ['CloudWatch Logs, incoming', prices.logGigabyte / 2 ** 30],
    ['Firehose records, of up to 5 KB', (prices.firehoseGigabyte * 5 * 1024) / 2 ** 30],
  ];

  test.each([
    ['US dollars an hour, in the last two days', 3600],
    ['US dollars a day, in the last four weeks', 86400],
  ])('%s is each service’s usage times its price', (title, period) => {
    const formulas = graph(title).metrics.filter(({ options }) => options.expression !== undefined);
    expect(formulas.map(({ options }) => options.label)).toEqual(charges.map(([label]) => label));
    for (const [index, [, price]] of charges.entries()) {
      const { expression = '', period: ofFormula } = formulas[index]?.options ?? {};
      const factor = Number(/^SUM\(\[[\w,]+\]\) \* ([\d.]+)$/.exec(expression)?.[1]);
      expect(ofFormula).toBe(period);
      expect(factor / price).toBeCloseTo(1, 4);
    }
  });

  test('sums what it multiplies', () => {
    const used = graph('US dollars an hour, in the last two days').metrics.filter(
      ({ options }) => options.expression === undefined,
    );
    expect(new Set(used.map(({ options }) => options.stat))).toEqual(new Set(['Sum']));
  });
});

describe('a metric that functions report', () => {
  const scope = new Stack(new App(), 'Test');

  test('is refused without a dimension that it is reported with', () => {
    const receiver = logMetrics(scope, { service: 'receiver' });
    expect(() => receiver.metric('Rejected')).toThrow('Rejected needs the dimension reason');
  });

  test('has no dimension that it is not reported with', () => {
    const consumer = logMetrics(scope, { service: 'girl-created', event: 'girl.created' });
    expect(consumer.metric('Failed').dimensions).toEqual({ service: 'girl-created', event: 'girl.created' });
    expect(consumer.metric('BuryFailed').dimensions).toEqual({ service: 'girl-created' });
  });
});

describe('the lines of alarms', () => {
  const rings: Readonly<Record<string, readonly string[]>> = {
    'Requests, and how many fail': ['Api/NearThrottle'],
    'Answered by API Gateway itself': ['Api/Throttled', 'Api/Unavailable', 'Api/TooLarge'],
    'Not accepted, or only put aside': ['Receiver/SecretUnreadable'],
    'How long the partner waits for an answer': ['Api/Slow'],
    'Receiver: errors and throttles': ['Receiver/Errors', 'Receiver/Throttles'],
    'How late deliveries come: from the partner’s timestamp to the receipt': ['Lag'],
    ...Object.fromEntries(eventNames.map((event) => [`${event}: waiting`, [`${pascalCase(event)}/Waiting`]])),
    'Dead letters, by event': eventNames.map((event) => `${pascalCase(event)}/DeadLetterQueue/NotEmpty`),
    'Put aside by the receiver': ['Quarantine/NotEmpty', 'Unrouted/NotEmpty'],
  };

  test.each(Object.entries(rings))(
    'in "%s" are where %j ring, on the axis of their metrics',
    (title, paths) => {
      const { metrics, properties } = graph(title);
      const lines = paths.map((path) => {
        const alarm = template.at('AWS::CloudWatch::Alarm', path).properties;
        const watched = metrics.find((metric) => metric.name === alarm.MetricName);
        // An alarm on the sum of another period would be no line.
        if (alarm.Statistic === 'Sum') expect(watched?.options.period).toBe(alarm.Period);
        return `${alarm.Threshold} ${watched?.options.yAxis ?? 'left'}`;
      });
      const drawn = properties.annotations?.horizontal.map(({ value, yAxis }) => `${value} ${yAxis}`);
      expect(drawn).toEqual([...new Set(lines)]);
    },
  );

  test('are in no other graph', () => {
    const titles = graphs.filter(({ properties }) => properties.annotations).map(({ title }) => title);
    expect(new Set(titles)).toEqual(new Set(Object.keys(rings)));
  });
});
