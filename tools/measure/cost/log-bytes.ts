import { readFileSync } from 'node:fs';
import { LOCAL_SECRET } from '../../../events/signing.ts';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../lambda/events/event-names.ts';
import { logFilter } from '../../../local/aws/logs/log-filter.ts';
import type { FunctionLogLine } from '../../../local/functions/invocation.ts';
import { startLocalStack } from '../../../local/local-stack.ts';
import { metricFilters } from './deployment.ts';

/** Log volume of functions for one event that is accepted and processed. */
export interface LogBytes {
  /** Bytes of the receiver's lines for a delivery: the mean of all events. */
  readonly receiver: number;
  /** Bytes of a consumer's lines for an event: the mean of all events. */
  readonly consumer: number;
}

/**
 * Measured with `npm run cost -- --measure`, 2026-11-22. A test compares them roughly with the real logs, because a new
 * event, or a longer event name, moves the mean.
 */
export const MEASURED_LOG_BYTES: LogBytes = { receiver: 243, consumer: 341 };

/**
 * Invokes every function of a local stack with its sample. Counts the bytes that it logs, and the metrics that are
 * published by lines in the embedded metric format or by filters. Lambda's own lines are not included.
 * @param assembly folder of a cloud assembly
 * @throws Error if a function fails
 */
export async function measureLogBytes(assembly: string): Promise<LogBytes & { readonly metrics: number }> {
  const lines: FunctionLogLine[] = [];
  const stack = await startLocalStack({
    assembly,
    port: 0,
    awsPort: 0,
    // The samples are signed with it.
    secret: LOCAL_SECRET,
    onLog: (line) => void lines.push(line),
  });

  /** @returns the log lines of an invocation */
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

  const filters = metricFilters(assembly).map((filter) => ({
    ...filter,
    matches: logFilter(filter.pattern),
  }));
  /** The metrics that filters extract from a line, each with its dimensions' values. */
  const counted = (text: string): string[] =>
    filters
      .filter(({ matches }) => matches(text))
      .map(({ metric, dimensions }) =>
        [metric, ...dimensions.map((name) => JSON.parse(text)[name])].join(' '),
      );

  try {
    // Consumers first: the receiver's accepted events are processed, too, and would make the samples stale.
    const consumers = await invokeEach((name) => invoke(name, `events/sqs/${name}.json`));
    const receiver = await invokeEach((name) => invoke('receiver', `events/api-gateway/${name}.json`));
    return {
      receiver: bytesForEach(receiver),
      consumer: bytesForEach(consumers),
      metrics: new Set([...receiver, ...consumers].flatMap((text) => [...embedded(text), ...counted(text)]))
        .size,
    };
  } finally {
    await stack.close();
  }
}

const json = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

/** Bytes of the lines for one event. */
function bytesForEach(written: readonly string[]): number {
  const bytes = written.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return Math.round(bytes / eventNames.length);
}

/** The metrics that a line in the embedded metric format publishes, each with its dimensions' values. */
function embedded(text: string): string[] {
  if (!text.startsWith('{"_aws"')) return [];
  const line = JSON.parse(text);
  return line._aws.CloudWatchMetrics.flatMap(
    ({ Metrics, Dimensions }: { Metrics: { Name: string }[]; Dimensions: string[][] }) =>
      Metrics.flatMap(({ Name }) =>
        Dimensions.map((names) => [Name, ...names.map((name) => line[name])].join(' ')),
      ),
  );
}
