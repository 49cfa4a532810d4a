import { Progress } from '../../terminal/progress.ts';
import type { Operation } from '../operation.ts';
import { describeTrace } from './describe.ts';
import { traceDelivery } from './trace.ts';

/** Milliseconds below which a search is not worth telling of. */
const SHORT = 1_000;

interface TraceArguments {
  readonly json: boolean;
  readonly since: Date | undefined;
  readonly until: Date | undefined;
}

/**
 * `npm run trace`: prints the timeline of one event.
 * @returns false where part of the archive could not be read, which is said
 * @throws CommandError where there is no such event
 */
export async function printTrace(
  { stack, signal, say, width }: Operation,
  id: string,
  { json, since, until }: TraceArguments,
): Promise<boolean> {
  const progress = new Progress();
  let begun: number | undefined;
  const trace = await traceDelivery(stack, id, {
    since,
    until,
    signal,
    onProgress: (done, total) => {
      begun ??= Date.now();
      if (Date.now() - begun < SHORT) return;
      progress.show({ doing: 'Reading the archive', done, total, unit: 'objects' });
    },
  }).finally(() => progress.end());
  if (trace === undefined) {
    if (!json) say('Interrupted. The query of the logs is stopped, and nothing was changed.');
    return false;
  }
  if (json) say(JSON.stringify(trace, undefined, 2));
  else for (const line of describeTrace(trace, stack, width)) say(line);
  return (trace.sources.archive?.damaged.length ?? 0) === 0;
}
