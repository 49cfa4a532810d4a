import { setTimeout as sleep } from 'node:timers/promises';
import { type EventName, eventNames } from '../../../lambda/contract/catalogue.ts';
import { pascalCase } from '../../../lambda/contract/event-names.ts';
import { Pace } from '../replay/pace.ts';
import type { Stage } from '../stage.ts';
import { FollowedLog } from './followed-log.ts';

/** The receiver, or an event for its consumer. */
export type FunctionName = 'receiver' | EventName;

/** Every function whose lines are followed. */
export const functionNames: readonly FunctionName[] = ['receiver', ...eventNames];

/** A line that a function wrote. */
export interface FollowedLine {
  readonly function: FunctionName;
  /** Epoch milliseconds, by CloudWatch Logs. */
  readonly at: number;
  readonly text: string;
}

export interface FollowOptions {
  /** @default the receiver and every consumer */
  readonly functions?: readonly FunctionName[] | undefined;
  readonly since: Date;
  readonly signal: AbortSignal;
  /** Between two looks. @default 2000; of the local stack 250 */
  readonly pollMilliseconds?: number | undefined;
  /**
   * Told once of what keeps a function's log from being read, such as a permission; the others are followed. Told
   * again only where it could be read in between. Throttling is waited out, and told where that does not help.
   */
  readonly onProblem?: ((name: FunctionName, error: Error) => void) | undefined;
}

const POLL_MILLISECONDS = { aws: 2_000, local: 250 };

/**
 * Requests a second at most. AWS allows 5 FilterLogEvents for an account and region, which cannot be raised: some are
 * left to whoever else looks. Source: CloudWatch Logs user guide, "CloudWatch Logs quotas".
 */
const REQUESTS_A_SECOND = 4;

/** The longest wait between two looks, in milliseconds: each one that is throttled doubles it. */
const LONGEST_WAIT = 30_000;

/**
 * The lines of functions as they are written, each once, until the signal is aborted: those of one look together, in
 * order of time; a log that fills several pages comes page by page. CloudWatch Logs shows some lines late, so each look reaches back before the one before.
 */
export async function* followLogs(
  stack: Stage,
  {
    functions = functionNames,
    since,
    signal,
    pollMilliseconds = stack.local ? POLL_MILLISECONDS.local : POLL_MILLISECONDS.aws,
    onProblem = () => {},
  }: FollowOptions,
): AsyncGenerator<readonly FollowedLine[]> {
  const pace = stack.local ? undefined : new Pace(REQUESTS_A_SECOND);
  const logs = functions.map((name) => {
    const output = name === 'receiver' ? 'ReceiverLogGroup' : `${pascalCase(name)}LogGroup`;
    return { name, log: new FollowedLog(stack, { output, since, pace }) };
  });
  const troubled = new Set<FunctionName>();
  let wait = pollMilliseconds;
  while (!signal.aborted) {
    const begun = performance.now();
    const lines: FollowedLine[] = [];
    let throttledAt: number | undefined;
    let hasMorePages = false;
    for (const [index, { name, log }] of logs.entries()) {
      const { found, hasMore, error } = await log.look(signal);
      hasMorePages ||= hasMore;
      for (const { at, text } of found) lines.push({ function: name, at, text });
      if (signal.aborted) break;
      if (error === undefined) {
        troubled.delete(name);
        continue;
      }
      const isThrottled = error.name === 'ThrottlingException';
      if (!troubled.has(name) && (!isThrottled || wait === LONGEST_WAIT)) {
        troubled.add(name);
        onProblem(name, error);
      }
      if (isThrottled) {
        throttledAt = index;
        break;
      }
    }
    if (lines.length > 0) yield lines.sort((a, b) => a.at - b.at);
    // Whoever is throttled comes first the next time, as the quota is of all logs together.
    if (throttledAt !== undefined) logs.push(...logs.splice(0, throttledAt));
    wait = throttledAt === undefined ? pollMilliseconds : Math.min(2 * wait, LONGEST_WAIT);
    if (hasMorePages && throttledAt === undefined) continue;
    await sleep(Math.max(0, wait - (performance.now() - begun)), undefined, { signal }).catch(() => {});
  }
}
