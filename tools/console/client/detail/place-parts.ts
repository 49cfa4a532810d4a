import { queueText } from '../../../stage/history/step-text.ts';
import type { PausedQueue, Whereabouts } from '../../../stage/history/timeline.ts';
import { duration } from '../../../terminal/text.ts';
import { clockText, dayText } from '../shared/time-text.ts';
import type { Tone } from '../shared/tone.ts';

/** Where an event is, as it is shown above its timeline. */
export interface PlaceParts {
  readonly tone: Tone;
  readonly title: string;
  readonly detail?: string;
  /** Of the queue where somebody can do something about it, as the view of queues knows it. */
  readonly queue?: string;
}

const ENDS = {
  Processed: 'It has had its effect',
  Stale: 'Nothing to do: a newer event had been there before it',
  Duplicate: 'Nothing to do: people had been told before',
} as const;

export function placeParts(place: Whereabouts, now: Date): PlaceParts {
  const ago = (time: string) => duration(now.getTime() - Date.parse(time));
  const moment = (time: string) => {
    const date = new Date(time);
    return `${dayText(date, now)}${clockText(date, false)}`;
  };
  switch (place.state) {
    case 'done':
      return { tone: place.outcome === 'Processed' ? 'good' : 'neutral', title: ENDS[place.outcome] };
    case 'not accepted':
      return {
        tone: 'bad',
        title: 'Not accepted, and kept nowhere',
        detail: `The partner repeats what is answered ${place.status}.`,
      };
    case 'waiting':
      return {
        tone: 'info',
        title: `Waits on the ${queueText(place.queue)} for ${ago(place.since)}`,
        ...pausedDetail(place.paused, ago),
        queue: place.queue,
      };
    case 'backing off': {
      const next = place.nextAttemptAt ?? place.since;
      const wait = Date.parse(next) - now.getTime();
      return {
        tone: 'warning',
        title: wait > 0 ? `Tried again in ${duration(wait)}, at ${moment(next)}` : 'Tried again about now',
        detail: `It backs off on the ${queueText(place.queue)}.`,
        ...pausedDetail(place.paused, ago),
        queue: place.queue,
      };
    }
    case 'overdue':
      return {
        tone: 'warning',
        title: `Should have been tried ${ago(place.nextAttemptAt ?? place.since)} ago`,
        detail: `It is on the ${queueText(place.queue)}: it waits, or the function dies of it, and SQS makes it a dead letter.`,
        ...pausedDetail(place.paused, ago),
        queue: place.queue,
      };
    case 'dead letter':
    case 'quarantined':
    case 'parked': {
      const title = {
        'dead letter': `On the dead-letter queue of ${place.queue}`,
        quarantined: 'In quarantine',
        parked: 'On the unrouted queue',
      }[place.state];
      if (place.queueHolds === 0) {
        return {
          tone: 'neutral',
          title: `${title} it was, and nothing is there now`,
          detail: 'It was deleted, or its redrive is not in the logs yet.',
        };
      }
      const left = place.until === undefined ? undefined : Date.parse(place.until) - now.getTime();
      return {
        tone: place.state === 'parked' ? 'warning' : 'bad',
        title,
        ...(left !== undefined && {
          detail:
            left > 0
              ? `SQS keeps it for ${duration(left)} more.`
              : `SQS deleted it at ${moment(place.until ?? '')}.`,
        }),
        queue: place.state === 'dead letter' ? `dead:${place.queue}` : place.queue,
      };
    }
    case 'unknown':
      return { tone: 'neutral', title: 'Where it is, logs and archive do not say' };
  }
}

function pausedDetail(paused: PausedQueue | undefined, ago: (time: string) => string): { detail?: string } {
  if (paused === undefined) return {};
  const { by, reason, since } = paused;
  const facts = [
    since === undefined ? '' : ` for ${ago(since)}`,
    by === undefined ? '' : ` by ${by}`,
    reason === undefined ? '' : `: ${reason}`,
  ].join('');
  return { detail: `The event is paused${facts}.` };
}
