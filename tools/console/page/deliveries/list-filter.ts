import { type Delivery, type DeliveryState, isRefused } from '../../../stage/history/history.ts';
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
  const { tone } = stateTitle(state);
  if (tone === 'bad') return 'needs-you';
  if (isRefused(state)) return 'rejected';
  return tone === 'warning' ? 'in-progress' : 'done';
}

/** Words of the search that do not search the payload: `shop:shop-7`, `event:girl`. */
const WORD = /(?:^|\s)(shop|event):(\S*)/g;

interface SearchWords {
  /** Part of a payload, an id or an error. The server applies it; the page applies the rest. */
  readonly text: string;
  /** Part of the event's name and of the shop's id, in lower case. */
  readonly event: string;
  readonly shop: string;
}

export function readSearch(search = ''): SearchWords {
  const words = [...search.matchAll(WORD)].map(([, name, value = '']) => [name, value.toLowerCase()]);
  return { text: search.replaceAll(WORD, '').trim(), event: '', shop: '', ...Object.fromEntries(words) };
}

/** Whether a delivery is of this event and shop. Those of a request without a valid signature are only claimed. */
export const matches = ({ event = '', shopId = '' }: Delivery, wanted: SearchWords): boolean =>
  event.toLowerCase().includes(wanted.event) && shopId.toLowerCase().includes(wanted.shop);
