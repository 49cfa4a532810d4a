import { CommandError } from '../../terminal/command-error.ts';
import type { ProgressDisplay } from '../../terminal/progress.ts';
import type { Stage } from '../stage.ts';
import { type FoundFacts, findFacts, type Sources } from './aws-feed.ts';
import { fold } from './fold.ts';
import type { History } from './history.ts';
import { locate } from './locate.ts';
import { type IdKind, parseTraceId } from './trace-id.ts';

const DAY = 24 * 60 * 60 * 1000;

/** Days that are looked through by default: a query of the logs is paid by the byte. */
const DEFAULT_DAYS = 30;

/** What `npm run trace -- <id> --json` prints. */
export interface Trace {
  /** For people: `the local stack`, `stage prod in eu-west-1`. */
  readonly stack: string;
  /** As it was asked for. */
  readonly id: string;
  readonly idIs: IdKind;
  readonly history: History;
  readonly sources: Sources;
}

export interface TraceOptions {
  /** @default 30 days before `until` */
  readonly since?: Date | undefined;
  /** @default now */
  readonly until?: Date | undefined;
  readonly signal: AbortSignal;
  readonly progress?: ProgressDisplay;
}

/**
 * Finds the history of one event by any of its ids.
 * @returns undefined if it was interrupted
 * @throws CommandError if nothing, or more than one event, is found by the id
 */
export async function traceDelivery(
  stage: Stage,
  text: string,
  options: TraceOptions,
): Promise<Trace | undefined> {
  const found = await findDelivery(stage, text, options);
  if (found === undefined) return undefined;
  const { idIs, facts, sources } = found;
  const history = await locate(stage, fold(facts));
  return { stack: stage.title, id: text, idIs, history, sources };
}

/** The facts of a {@link Trace}. @throws CommandError as `traceDelivery` does */
export async function findDelivery(
  stage: Stage,
  text: string,
  { since, until, ...options }: TraceOptions,
): Promise<FoundFacts | undefined> {
  return findFacts(stage, parseTraceId(text), { window: windowOf({ since, until }), ...options });
}

/** @throws CommandError if it is empty */
export function windowOf({ since, until = new Date() }: Pick<TraceOptions, 'since' | 'until'>) {
  const window = { since: since ?? new Date(until.getTime() - DEFAULT_DAYS * DAY), until };
  if (window.until > window.since) return window;
  throw new CommandError(
    `--until must be after --since: ${until.toISOString()} is not after ${window.since.toISOString()}`,
  );
}
