import type { styleText } from 'node:util';
import { duration, printable } from '../../terminal/text.ts';
import type { Stage } from '../stage.ts';
import { clock, queueText } from './step-text.ts';
import type { InWork, Kept, Whereabouts } from './timeline.ts';

interface PlaceText {
  readonly text: string;
  readonly colour: Parameters<typeof styleText>[0];
}

const ENDS = {
  Processed: 'it has had its effect',
  Stale: 'a newer event had been there before it',
  Duplicate: 'people had been told before',
} as const;

/** Where an event is, in a sentence. */
export function placeText(place: Whereabouts, stack: Pick<Stage, 'command'>): PlaceText {
  switch (place.state) {
    case 'done':
      return { text: `Done: ${ENDS[place.outcome]}.`, colour: 'green' };
    case 'not accepted':
      return {
        text: `Not accepted, and kept nowhere: the partner repeats what is answered ${place.status}.`,
        colour: 'red',
      };
    case 'waiting':
    case 'backing off':
    case 'overdue':
      return { text: `${inWorkText(place)}${pauseText(place, stack)}.`, colour: 'yellow' };
    case 'dead letter':
    case 'quarantined':
    case 'parked':
      return { text: keptText(place, stack), colour: 'red' };
    case 'unknown':
      return { text: 'Where it is, logs and archive do not say.', colour: 'yellow' };
  }
}

function inWorkText({ state, queue, since, nextAttemptAt }: InWork): string {
  const on = `the ${queueText(queue)}`;
  switch (state) {
    case 'waiting':
      return `Waits on ${on} for ${duration(Date.now() - Date.parse(since))}`;
    case 'backing off': {
      const next = Date.parse(nextAttemptAt ?? since);
      const wait = next > Date.now() ? `, in ${duration(next - Date.now())}` : ', which is about now';
      return `Backs off on ${on}: tried again at ${clock(new Date(next).toISOString())}${wait}`;
    }
    case 'overdue': {
      const due = nextAttemptAt === undefined ? 'queued' : 'due';
      const ago = duration(Date.now() - Date.parse(nextAttemptAt ?? since));
      return `On ${on}, ${due} ${ago} ago, and no consumer has written of it since: it waits, or the function dies of it, and SQS makes it a dead letter`;
    }
  }
}

function pauseText({ paused, queue }: InWork, stack: Pick<Stage, 'command'>): string {
  if (paused === undefined) return '';
  const { by, reason, since } = paused;
  const facts = [
    since === undefined ? undefined : `for ${duration(Date.now() - Date.parse(since))}`,
    by === undefined ? undefined : `by ${by}`,
  ].filter((fact) => fact !== undefined);
  const why = reason === undefined ? '' : `: ${printable(reason)}`;
  return `. It is paused ${facts.join(' ')}${why}. It goes on with: ${stack.command(queue, 'resume')}`;
}

const KEPT = {
  'dead letter': (queue: string) => `On the dead-letter queue of ${queue}`,
  quarantined: () => 'In quarantine',
  parked: () => 'On the unrouted queue',
} as const;

function keptText({ state, queue, until, queueHolds }: Kept, stack: Pick<Stage, 'command'>): string {
  const where = KEPT[state](queue);
  if (queueHolds === 0) {
    return `${where} it was, and nothing is there now: it was deleted, or its redrive is not in the logs yet.`;
  }
  const left = until === undefined ? 0 : Date.parse(until) - Date.now();
  if (until !== undefined && left <= 0) return `${where} it was until ${until}, when SQS deleted it.`;
  const end = until === undefined ? '' : `, for ${duration(left)} more`;
  return `${where}${end}. Why, and what then: ${stack.command(`show ${queue}`)}`;
}
