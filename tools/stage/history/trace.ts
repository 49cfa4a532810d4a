import type { Stage } from '../stage.ts';
import { findFacts, type Sources } from './find-facts.ts';
import { fold } from './fold.ts';
import type { History } from './history.ts';
import { locate } from './locate.ts';
import type { IdKind } from './trace-id.ts';

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

/**
 * Finds the history of one event by any of its ids.
 * @returns undefined if it was interrupted
 * @throws CommandError if nothing, or more than one event, is found by the id
 */
export async function traceDelivery(
  stage: Stage,
  id: string,
  options: Parameters<typeof findFacts>[2],
): Promise<Trace | undefined> {
  const found = await findFacts(stage, id, options);
  if (found === undefined) return undefined;
  const { idIs, facts, sources } = found;
  const history = await locate(stage, fold(facts));
  return { stack: stage.title, id, idIs, history, sources };
}
