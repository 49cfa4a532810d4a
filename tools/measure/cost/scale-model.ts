import { catalogue, eventNames, isNotification } from '../../../lambda/events/catalogue.ts';
import type { EffectName } from '../../../lambda/events/definition.ts';
import { recordBytes } from './archive-cost.ts';
import { eventsWith, tableOf, writeUnits } from './cost-model.ts';
import type { Deployment } from './deployment.ts';
import type { Workload } from './workload.ts';

/** Default quotas of an account in us-east-1. Their sources: `docs/scale-and-cost.md`, "Quotas". */
const QUOTA = {
  apiRate: 10_000,
  /** Invocations a second for each unit of concurrency, account-wide or reserved. */
  invocationsForConcurrency: 10,
  newTableWriteUnits: 4_000,
  tableWriteUnits: 40_000,
  partitionWriteUnits: 1_000,
  snsPublishes: 30_000,
  snsEmails: 10,
  slackMessages: 1,
  inFlightMessages: 120_000,
  /** For each delivery stream with direct PUT. */
  firehose: { bytes: 5 * 1024 ** 2, calls: 2_000, records: 500_000 },
} as const;

/** A resource that is saturated at some rate of deliveries. */
export interface Limit {
  readonly name: string;
  /** Deliveries a second that saturate it. */
  readonly deliveries: number;
  /** What happens above it. */
  readonly consequence: string;
  /** The configuration field or the quota that raises it. */
  readonly raise: string;
}

const QUEUES_GROW = 'queues grow; nothing is lost';
/** The API's answers if the API or the receiver is throttled. */
const THROTTLED = {
  http: '429: lost unless the partner repeats it',
  rest: '500: the partner repeats it',
};
const UNAVAILABLE = {
  http: '503: lost unless the partner repeats it',
  rest: THROTTLED.rest,
};

/**
 * The stack's limits, the lowest first. Assumes the workload's mix, full batches, equally busy shops, and nothing else
 * in the account.
 * @param accountConcurrency the account's quota of concurrent executions
 */
export function limits(workload: Workload, deployment: Deployment, accountConcurrency: number): Limit[] {
  const { mix } = workload;
  const { consumers, receiver, apiThrottle, gateway } = deployment;
  const receiverSeconds = workload.receiverMilliseconds / 1000;

  const batchesForDelivery = consumers.reduce((sum, { event, batchSize }) => sum + mix[event] / batchSize, 0);
  const consumersAtMost = consumers.reduce((sum, { maximumConcurrency }) => sum + maximumConcurrency, 0);
  const left = Math.max(0, accountConcurrency - consumersAtMost);
  const { reservedConcurrency: reserved } = receiver;
  const slowest = slowestConsumers(workload, consumers);
  const fullTable = fullestTable(workload);
  const notifications = eventNames.filter(isNotification).reduce((sum, name) => sum + mix[name], 0);

  return [
    {
      name: `DynamoDB: ${fullTable.name}, while new`,
      deliveries: QUOTA.newTableWriteUnits / fullTable.units,
      consequence: QUEUES_GROW,
      raise: 'ramp up (twice the last peak after 30 minutes), or set warm throughput',
    },
    {
      name: 'Lambda: invocations a second',
      deliveries:
        reserved === undefined
          ? (QUOTA.invocationsForConcurrency * accountConcurrency) / (1 + batchesForDelivery)
          : QUOTA.invocationsForConcurrency * reserved,
      consequence: UNAVAILABLE[gateway],
      raise:
        reserved === undefined
          ? 'quota “Concurrent executions”: 10 a second for each'
          : '`receiver.reservedConcurrency`: 10 a second for each',
    },
    {
      name: 'API Gateway: requests a second',
      deliveries: Math.min(apiThrottle.rate, QUOTA.apiRate),
      consequence: THROTTLED[gateway],
      raise: 'quota “Throttle rate”, and `apiThrottle`',
    },
    {
      name: `Consumers: ${slowest.name}`,
      deliveries: slowest.deliveries,
      consequence: QUEUES_GROW,
      raise: '`events.<event>.maximumConcurrency`, then `batchSize` and `memory`',
    },
    {
      name: 'Lambda: concurrent receivers',
      deliveries: (reserved ?? left) / receiverSeconds,
      consequence: UNAVAILABLE[gateway],
      raise:
        reserved === undefined
          ? 'quota “Concurrent executions”'
          : '`receiver.reservedConcurrency`, then the quota',
    },
    {
      name: `DynamoDB: ${fullTable.name}`,
      deliveries: QUOTA.tableWriteUnits / fullTable.units,
      consequence: QUEUES_GROW,
      raise: 'quota “Table-level write throughput limit”',
    },
    {
      name: 'SNS: publishes a second',
      deliveries: QUOTA.snsPublishes / notifications,
      consequence: QUEUES_GROW,
      raise: 'quota “Messages published per second”; 300 in the smallest regions',
    },
    ...archiveLimits(workload, deployment),
  ]
    .filter(({ deliveries }) => Number.isFinite(deliveries))
    .sort((a, b) => a.deliveries - b.deliveries);
}

/** The quota that the busiest delivery stream reaches first. Empty without an archive. */
function archiveLimits({ mix, payloadBytes }: Workload, { archive, consumers }: Deployment): Limit[] {
  if (archive === undefined) return [];
  const records = Math.max(...eventNames.map((event) => mix[event]));
  const calls = Math.max(...consumers.map(({ event, batchSize }) => mix[event] / batchSize));
  const [full, deliveries] = Object.entries({
    bytes: QUOTA.firehose.bytes / (records * recordBytes(payloadBytes)),
    calls: QUOTA.firehose.calls / calls,
    records: QUOTA.firehose.records / records,
  }).reduce((first, next) => (next[1] < first[1] ? next : first));
  return [
    {
      name: `Firehose: ${full} a second to a stream`,
      deliveries,
      consequence: QUEUES_GROW,
      raise:
        'quotas of direct PUT, raised together; most regions allow a fifth of the bytes and half of the calls',
    },
  ];
}

/** Limits of a single busy shop and of people, which are lower than the stack's. */
export function narrowLimits({
  mix,
  payloadBytes,
}: Workload): Pick<Limit, 'name' | 'deliveries' | 'consequence'>[] {
  const shareOf = (effect: EffectName) => eventsWith(effect).reduce((sum, name) => sum + mix[name], 0);
  return [
    {
      name: `Slack: messages to one channel, of ${listed(eventsWith('chat'))}`,
      deliveries: QUOTA.slackMessages / shareOf('chat'),
      consequence:
        'Slack rejects, Amazon Q drops or delays: subscribe each room to its own shops with a filter policy',
    },
    {
      name: `SNS: e-mails to one address without a filter, of ${listed(eventsWith('review'))}`,
      deliveries: QUOTA.snsEmails / shareOf('review'),
      consequence: 'SNS deactivates the subscription: filter by `shop_id`, or subscribe a queue',
    },
    {
      name: `DynamoDB: ${listed(eventsWith('shop-cache'))} of one shop`,
      deliveries: QUOTA.partitionWriteUnits / writeUnits('shop-cache', payloadBytes).table,
      consequence: 'writes to that shop are throttled; fair queues protect the others',
    },
    {
      name: `DynamoDB: ${listed(eventsWith('cast'))} of one shop (the index by shop)`,
      deliveries: QUOTA.partitionWriteUnits / writeUnits('cast', payloadBytes).index,
      consequence: 'the index slows down the whole cast table',
    },
  ].filter(({ deliveries }) => Number.isFinite(deliveries));
}

export interface Load {
  readonly rate: number;
  /** Concurrent receivers and consumers by Little's law, up to their settings. */
  readonly receiversBusy: number;
  readonly consumersBusy: number;
  /** The limits that the rate reaches. */
  readonly full: readonly Limit[];
  readonly nearest: Limit;
  /**
   * Seconds that a shared dependency of all consumers may be down until the busiest queue has as many messages in
   * flight as SQS allows.
   */
  readonly secondsToInFlight: number;
}

export function load(
  rate: number,
  workload: Workload,
  deployment: Deployment,
  accountConcurrency: number,
): Load {
  const all = limits(workload, deployment, accountConcurrency);
  const [nearest] = all;
  if (nearest === undefined) throw new Error('No limit is known');
  const busiest = Math.max(...eventNames.map((name) => workload.mix[name]));
  return {
    rate,
    receiversBusy: Math.ceil((rate * workload.receiverMilliseconds) / 1000),
    consumersBusy: deployment.consumers.reduce((sum, { event, batchSize, maximumConcurrency }) => {
      const batches = (rate * workload.mix[event]) / batchSize;
      return sum + Math.min(maximumConcurrency, Math.ceil((batches * workload.consumerMilliseconds) / 1000));
    }, 0),
    full: all.filter(({ deliveries }) => deliveries <= rate),
    nearest,
    secondsToInFlight: QUOTA.inFlightMessages / (rate * busiest),
  };
}

/** The tables with the most write units for a delivery. */
function fullestTable({ mix, payloadBytes }: Workload): { name: string; units: number } {
  const units = new Map<string, number>();
  for (const name of eventNames) {
    const table = tableOf(name);
    units.set(
      table,
      (units.get(table) ?? 0) + mix[name] * writeUnits(catalogue[name].effect, payloadBytes).table,
    );
  }
  const most = Math.max(...units.values());
  const names = [...units].filter(([, each]) => isClose(each, most)).map(([name]) => name);
  return { name: `table ${listed(names)}`, units: most };
}

/** The consumers that are saturated first. */
function slowestConsumers(
  workload: Workload,
  consumers: Deployment['consumers'],
): Pick<Limit, 'name' | 'deliveries'> {
  const full = consumers
    .filter(({ event }) => workload.mix[event] > 0)
    .map(({ event, batchSize, maximumConcurrency }) => {
      const eventsASecond = (maximumConcurrency * batchSize) / (workload.consumerMilliseconds / 1000);
      return [event, eventsASecond / workload.mix[event]] as const;
    });
  const deliveries = Math.min(...full.map(([, each]) => each));
  const first = full.filter(([, each]) => isClose(each, deliveries));
  const names = first.map(([name]) => name);
  return { name: names.length === eventNames.length ? 'all alike' : listed(names), deliveries };
}

/** Text such as `a, b and c`. */
const listed = (names: readonly string[]) => new Intl.ListFormat('en-GB').format(names);

/** Sums of shares may differ in their last digit. */
const isClose = (a: number, b: number) => Math.abs(a - b) < 1e-9 * Math.max(a, b);
