import { type Delivery, type DeliveryState, states } from '../../../stage/history/history.ts';
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

/**
 * Name, as in `npx hookctl dlq`, of the queue where the delivery waits for a redrive. Undefined if it does
 * not wait: other failures were answered with an error, and the partner retries.
 */
export function redriveQueue({ state, event = '' }: Pick<Delivery, 'state' | 'event'>): string | undefined {
  if (state === 'dead-letter') return event;
  if (state === 'invalid') return 'quarantine';
  return state === 'parked' ? 'unrouted' : undefined;
}

export function outcomeOf(state: DeliveryState): OutcomeGroup {
  if (redriveQueue({ state }) !== undefined) return 'needs-you';
  const { tone } = stateTitle(state);
  if (tone === 'bad') return 'rejected';
  return tone === 'warning' ? 'in-progress' : 'done';
}

export const statesOf = (outcome: OutcomeGroup): readonly DeliveryState[] =>
  states.filter((state) => outcomeOf(state) === outcome);
