import { type DeliveryState, queueOf, states } from '../../../stage/history/history.ts';
import { stateTitle } from '../../../stage/history/state-text.ts';

/** Groups of deliveries, for filters and colours. Deliveries that need a person are first. */
export const OUTCOMES = ['needs-you', 'rejected', 'in-progress', 'done'] as const;
export type OutcomeGroup = (typeof OUTCOMES)[number];

export const OUTCOME_WORDS: Readonly<Record<OutcomeGroup, string>> = {
  'needs-you': 'Needs you',
  rejected: 'Rejected',
  'in-progress': 'In progress',
  done: 'Done',
};

export function outcomeOf(state: DeliveryState): OutcomeGroup {
  if (queueOf({ state }) !== undefined) return 'needs-you';
  const { tone } = stateTitle(state);
  if (tone === 'bad') return 'rejected';
  return tone === 'warning' ? 'in-progress' : 'done';
}

export const statesOf = (outcome: OutcomeGroup): readonly DeliveryState[] =>
  states.filter((state) => outcomeOf(state) === outcome);
