import type { DeliveryState } from '../../api.ts';
import type { Tone } from '../shared/tone.ts';

interface StateText {
  readonly label: string;
  readonly tone: Tone;
  /** What it means, in a sentence. */
  readonly meaning: string;
}

export const STATES: Readonly<Record<DeliveryState, StateText>> = {
  received: { label: 'received', tone: 'info', meaning: 'Not answered yet.' },
  queued: { label: 'queued', tone: 'info', meaning: 'Waits for its consumer.' },
  retrying: { label: 'retrying', tone: 'warning', meaning: 'An attempt failed; it is tried again.' },
  processed: { label: 'processed', tone: 'good', meaning: 'Has had its effect.' },
  stale: { label: 'stale', tone: 'neutral', meaning: 'A newer event had been there before it.' },
  duplicate: { label: 'duplicate', tone: 'neutral', meaning: 'People had been told before.' },
  dead: { label: 'dead letter', tone: 'bad', meaning: 'Given up; it waits on the dead-letter queue.' },
  parked: {
    label: 'parked',
    tone: 'warning',
    meaning: 'Of a kind that nobody knows; on the unrouted queue.',
  },
  unusable: { label: 'unusable', tone: 'bad', meaning: 'Signed, but not a usable event; in quarantine.' },
  rejected: { label: 'rejected', tone: 'bad', meaning: 'Its signature is missing, malformed or wrong.' },
  failed: { label: 'failed', tone: 'bad', meaning: 'It could not be made safe; the partner repeats it.' },
  refused: { label: 'refused', tone: 'bad', meaning: 'API Gateway itself answered.' },
};

/** Values of the filter that stand for several states. */
export const STATE_GROUPS: readonly { readonly label: string; readonly states: string }[] = [
  { label: 'On its way', states: 'received,queued,retrying' },
  { label: 'Done', states: 'processed,stale,duplicate' },
  { label: 'Needs a look', states: 'dead,parked,unusable,rejected,failed,refused' },
];
