import { readFileSync } from 'node:fs';
import { LOCAL_SECRET } from '../../events/signing.ts';
import { eventNames } from '../../lambda/contract/catalogue.ts';
import { kebabCase } from '../../lambda/contract/event-names.ts';
import type { MetricName } from '../../lambda/metric-names.ts';
import type { LogLine } from '../../local/functions/invocation.ts';
import { startLocalStack } from '../../local/local-stack.ts';

/** What functions write for one event that is accepted and processed. */
export interface LogBytes {
  /** Bytes of the receiver's lines for a delivery, EMF included; the mean of all events. */
  readonly receiver: number;
  /** Bytes of a consumer's lines for an event, EMF included; the mean of all events. */
  readonly consumer: number;
}

/**
 * Measured with `npm run cost -- --measure`, 2026-11-21. A test holds them against what the functions write,
 * roughly: an event more, or one with a longer name, moves the mean.
 */
export const MEASURED_LOG_BYTES: LogBytes = { receiver: 917, consumer: 1047 };

/** Metrics of an event that is accepted and processed. */
const WHERE_ALL_GOES_WELL = ['Accepted', 'DeliveryLag', 'Processed', 'EffectLatency'] satisfies MetricName[];

/** Custom metrics that come of all events being accepted and processed: each has the event as a dimension. */
export const METRICS_WHERE_ALL_GOES_WELL = WHERE_ALL_GOES_WELL.length * eventNames.length;

/**
 * What CloudFormation appends to a function's name (`-1A2B3C4D5E6F`), which a line has twice, and X-Ray's
 * id.
 */
const ONLY_ON_AWS = 2 * 13 + '"xray_trace_id":"1-5759e988-bd862e3fe1be46a994272793",'.length;

/**
 * Invokes every function of a local stack with its sample and counts what it writes. START, END and REPORT
 * are not included: those are Lambda's.
 * @param assembly folder of a cloud assembly
 * @throws Error where a function fails
 */
export async function measureLogBytes(assembly: string): Promise<LogBytes & { readonly metrics: number }> {
  const lines: LogLine[] = [];
  const stack = await startLocalStack({
    assembly,
    port: 0,
    awsPort: 0,
    // The samples are signed with it.
    secret: LOCAL_SECRET,
    onLog: (line) => void lines.push(line),
  });

  /** @returns the lines of an invocation */
  async function invoke(service: string, eventFile: string): Promise<string[]> {
    const result = await stack.functions.get(service)?.function.invoke(json(eventFile));
    if (!result?.ok) throw new Error(`${service} failed with ${eventFile}: ${result?.errorMessage}`);
    return lines.filter(({ requestId }) => requestId === result.requestId).map(({ text }) => text);
  }
  const invokeEach = async (call: (name: string) => Promise<string[]>) => {
    const written: string[] = [];
    for (const event of eventNames) written.push(...(await call(kebabCase(event))));
    return written;
  };

  try {
    // Consumers first: what the receiver accepts is processed, too, and would make the samples stale.
    const consumers = await invokeEach((name) => invoke(name, `events/sqs/${name}.json`));
    const receiver = await invokeEach((name) => invoke('receiver', `events/api-gateway/${name}.json`));
    return {
      receiver: bytesForEach(receiver),
      consumer: bytesForEach(consumers),
      metrics: new Set([...receiver, ...consumers].flatMap(metricsOf)).size,
    };
  } finally {
    await stack.close();
  }
}

const json = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

/** Bytes of the lines on AWS for one event. */
function bytesForEach(written: readonly string[]): number {
  const bytes = written.reduce(
    (sum, text) => sum + Buffer.byteLength(text) + (text.includes('"function_arn"') ? ONLY_ON_AWS : 0),
    0,
  );
  return Math.round(bytes / eventNames.length);
}

/** The metrics that a line in the embedded metric format publishes, each with its dimensions' values. */
function metricsOf(text: string): string[] {
  if (!text.startsWith('{"_aws"')) return [];
  const line = JSON.parse(text);
  return line._aws.CloudWatchMetrics.flatMap(
    ({ Metrics, Dimensions }: { Metrics: { Name: string }[]; Dimensions: string[][] }) =>
      Metrics.flatMap(({ Name }) =>
        Dimensions.map((names) => [Name, ...names.map((name) => line[name])].join(' ')),
      ),
  );
}
