import { Duration } from 'aws-cdk-lib';
import { GraphWidget, type IWidget, type MathExpression, Metric, Row } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnFunction, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { CurrencyAxisUsdFromZero } from 'cdk-monitoring-constructs';
import { prices } from '../prices.ts';
import type { Monitored } from './monitored.ts';
import { sum } from './sum.ts';

/** Lambda's own default. Source: Lambda API reference, `CreateFunction`, `MemorySize`. */
const DEFAULT_MEMORY_MEGABYTES = 128;

const REQUEST_PRICE = { http: 'httpApiRequest', rest: 'restApiRequest' } as const;

/** Each begun chunk of a record is paid for as one. Source: as the price's. */
const FIREHOSE_CHUNK = 5 * 1024;

/** As the prices count them. */
const BYTES_OF_A_GIGABYTE = 2 ** 30;

/** What does it cost? Dollars by service, from what the services count, an hour and a day at a time. */
export function cost(monitored: Monitored): IWidget[] {
  const graph = (title: string, period: Duration, start: string) =>
    new GraphWidget({
      title,
      width: 12,
      height: 7,
      left: charges(monitored, period),
      leftYAxis: { ...CurrencyAxisUsdFromZero, label: 'US dollars' },
      stacked: true,
      start,
      end: 'PT0H',
    });
  return [
    new Row(
      graph('US dollars an hour, in the last two days', Duration.hours(1), '-P2D'),
      graph('US dollars a day, in the last four weeks', Duration.days(1), '-P28D'),
    ),
  ];
}

function charges(monitored: Monitored, period: Duration): MathExpression[] {
  const { api, receiver, events, tables, topics, logGroups } = monitored;
  const streams = events.flatMap(({ archiveStream }) => archiveStream ?? []);
  const total = { period, statistic: 'Sum' };
  const charge = (id: string, label: string, metrics: readonly Metric[], price: number): MathExpression =>
    sum({ id, label, metrics, period, factor: price });
  const functions = [receiver, ...events.map(({ consumer }) => consumer)];
  const units = (kind: 'Read' | 'Write') =>
    tables.flatMap(({ table, indexes = [] }) =>
      [{}, ...indexes.map((index) => ({ GlobalSecondaryIndexName: index }))].map((dimension) =>
        table.metric(`Consumed${kind}CapacityUnits`, {
          dimensionsMap: { TableName: table.tableName, ...dimension },
          ...total,
        }),
      ),
    );

  return [
    charge(
      'api',
      'API Gateway requests',
      [api.gateway.metrics.metricCount(total)],
      prices[REQUEST_PRICE[api.gateway.kind]],
    ),
    charge(
      'calls',
      'Lambda requests',
      functions.map((one) => one.metricInvocations(total)),
      prices.lambdaRequest,
    ),
    ...[...byMemory(functions)].map(([megabytes, ofThatSize]) =>
      charge(
        `time${megabytes}x`,
        `Lambda time at ${megabytes} MB`,
        ofThatSize.map((one) => one.metricDuration(total)),
        ((prices.lambdaGigabyteSecondArm / 1000) * megabytes) / 1024,
      ),
    ),
    charge(
      'sqs',
      'SQS requests, at most',
      // Messages of a batch share a request, which no metric tells: each is counted as one of its own.
      events.flatMap(({ queue }) => [
        queue.metricNumberOfMessagesSent(total),
        queue.metricNumberOfMessagesReceived(total),
        queue.metricNumberOfMessagesDeleted(total),
        queue.metricNumberOfEmptyReceives(total),
      ]),
      prices.sqsRequest + prices.sqsFairQueueRequest,
    ),
    charge('writes', 'DynamoDB writes', units('Write'), prices.dynamodbWriteUnit),
    charge('reads', 'DynamoDB reads', units('Read'), prices.dynamodbReadUnit),
    charge(
      'sns',
      'SNS publishes',
      topics.map((topic) => topic.metricNumberOfMessagesPublished(total)),
      prices.snsPublish,
    ),
    charge(
      'logs',
      'CloudWatch Logs, incoming',
      logGroups.map(
        ({ logGroupName }) =>
          new Metric({
            namespace: 'AWS/Logs',
            metricName: 'IncomingBytes',
            dimensionsMap: { LogGroupName: logGroupName },
            ...total,
          }),
      ),
      prices.logGigabyte / BYTES_OF_A_GIGABYTE,
    ),
    ...(streams.length === 0
      ? []
      : [
          charge(
            'archive',
            'Firehose records, of up to 5 KB',
            streams.map(
              ({ ref: DeliveryStreamName }) =>
                new Metric({
                  namespace: 'AWS/Firehose',
                  metricName: 'IncomingRecords',
                  dimensionsMap: { DeliveryStreamName },
                  ...total,
                }),
            ),
            (prices.firehoseGigabyte * FIREHOSE_CHUNK) / BYTES_OF_A_GIGABYTE,
          ),
        ]),
  ];
}

/** Functions by their memory in megabytes, as it stands in the template. */
function byMemory(functions: readonly LambdaFunction[]): Map<number, LambdaFunction[]> {
  return Map.groupBy(functions, ({ node }) => {
    const template = node.defaultChild;
    return (template instanceof CfnFunction ? template.memorySize : undefined) ?? DEFAULT_MEMORY_MEGABYTES;
  });
}
