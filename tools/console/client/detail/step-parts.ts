import { factsOf, wordOf } from '../../../stage/history/step-text.ts';
import type { DeadLettered, Failed, Step } from '../../../stage/history/timeline.ts';
import { duration } from '../../../terminal/text.ts';
import { clockText, dayText } from '../shared/time-text.ts';
import type { Tone } from '../shared/tone.ts';

/** A step as it is shown: the words are those of `npm run trace`, its clocks those of whoever looks. */
export interface StepParts {
  readonly word: string;
  readonly tone: Tone;
  readonly facts: string;
  /** What failed. */
  readonly error?: string;
  /** When it is tried again. */
  readonly next?: string;
}

/** @param steps all of the timeline */
export function stepParts(step: Step, steps: readonly Step[], now: Date): StepParts {
  const word = wordOf(step);
  const tone = toneOf(step);
  switch (step.what) {
    case 'failed': {
      const at = new Date(step.nextAttemptAt);
      const wait = duration(step.retryInSeconds * 1000);
      return {
        word,
        tone,
        facts: attemptFacts(step),
        error: step.error,
        next: `${at > now ? 'Is' : 'Was'} to be tried again at ${dayText(at, now)}${clockText(at, false)}, after ${wait}`,
      };
    }
    case 'dead-lettered':
      return { word, tone, facts: attemptFacts(step), error: step.error };
    default:
      return { word, tone, facts: factsOf(step, steps) };
  }
}

/** `attempt 2 (redriven)`, as a dead letter without its error says it. */
function attemptFacts({ at, origin, attempt }: Failed | DeadLettered): string {
  return factsOf({ what: 'dead-lettered', at, origin, attempt, error: '' }, []).replace(/: $/, '');
}

function toneOf(step: Step): Tone {
  switch (step.what) {
    case 'effect':
      return step.outcome === 'Processed' ? 'good' : 'neutral';
    case 'failed':
    case 'unseen':
      return 'warning';
    case 'dead-lettered':
      return 'bad';
    case 'answered':
      return step.status === 200 ? 'good' : step.status === 400 ? 'warning' : 'bad';
    case 'noted':
      return step.level === 'ERROR' ? 'bad' : 'warning';
    case 'received':
      return 'info';
    default:
      return 'neutral';
  }
}

/** Steps that belong together: a delivery, a redrive, a replay, each with what became of it. */
export interface StepGroup {
  /** Absent of the first delivery, which needs none. */
  readonly title?: string;
  readonly steps: readonly Step[];
}

export function groupSteps(steps: readonly Step[]): StepGroup[] {
  const groups: { title?: string; steps: Step[] }[] = [];
  for (const step of steps) {
    const title = titleOf(step);
    const current = groups.at(-1);
    if (current === undefined) groups.push({ steps: [step] });
    else if (title !== undefined) groups.push({ title, steps: [step] });
    else current.steps.push(step);
  }
  return groups;
}

/** Of what begins with a step; undefined where it goes on. */
function titleOf(step: Step): string | undefined {
  if (step.what === 'received') return 'Delivered again';
  if (!('origin' in step) || step.what === 'archived' || step.attempt !== 1) return undefined;
  switch (step.origin.kind) {
    case 'delivery':
      return undefined;
    case 'redriven':
      return 'Redriven';
    case 'repeated':
      return 'Queued twice';
    case 'by hand':
      return 'Sent by hand';
    case 'replay':
      return `Replay ${step.origin.name}`;
  }
}

/** `+12 ms` since the step before. */
export function gapText({ at }: Step, before: Step | undefined): string {
  if (before === undefined) return '';
  const gap = Date.parse(at) - Date.parse(before.at);
  if (!(gap > 0)) return '';
  return `+${gap < 1000 ? `${gap} ms` : duration(gap)}`;
}
