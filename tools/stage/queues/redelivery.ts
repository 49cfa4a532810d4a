import { createHash } from 'node:crypto';
import { CommandError } from '../../terminal/command-error.ts';
import { postSigned } from '../signed-post.ts';
import type { Stage } from '../stage.ts';
import { currentSecret } from '../webhook-secret.ts';
import type { HeldMessage } from './message.ts';
import type { Outcome, RedriveOne } from './outcome.ts';
import { readPayload } from './payload.ts';
import type { WaitingQueue } from './queue.ts';

/**
 * Redrives what is in quarantine: signs the partner's bytes with the current secret and posts them to
 * the receiver, so that everything is as for a delivery. What is still unusable the receiver quarantines
 * anew; the old message is deleted then, so the queue does not grow, and the new one is left alone.
 */
export async function redelivery(stack: Stage, queue: WaitingQueue): Promise<RedriveOne> {
  const url = stack.outputs.WebhookUrl ?? '';
  const secret = await currentSecret(stack);
  /** By the hash of the bytes: the walk may come upon what this very redrive had quarantined anew. */
  const outcomes = new Map<string, Promise<Outcome>>();

  return async (message: HeldMessage): Promise<Outcome | undefined> => {
    const body = await readPayload(stack, queue, message);
    const hash = createHash('sha256').update(body).digest('hex');
    const known = outcomes.get(hash);
    const outcome = known ?? post({ url, body, secret });
    outcomes.set(hash, outcome);
    const { fate, redriven } = await outcome;
    return known && fate === 'settled' && !redriven ? undefined : outcome;
  };
}

async function post(delivery: Parameters<typeof postSigned>[0]): Promise<Outcome> {
  const answer = await postSigned(delivery).catch((error: Error) => error);
  if (answer instanceof CommandError) {
    const what = `stays: nothing answers at ${delivery.url}`;
    return { fate: 'kept', redriven: false, what, hopeless: true };
  }
  if (answer instanceof Error) throw answer;
  const { status, type } = parseAnswer(answer.body);
  // Only the receiver's own answers say that it has the bytes; something before it may answer, too.
  if (answer.status === 200 && (status === 'queued' || status === 'parked')) {
    return { fate: 'settled', redriven: true, what: `accepted by the receiver: ${status}` };
  }
  if (answer.status === 400 && type === 'urn:partner-webhooks:problem:unusable-event') {
    const what = 'still unusable: the receiver quarantined it anew, and the old message is deleted';
    return { fate: 'settled', redriven: false, what };
  }
  const what = `stays: the answer was ${answer.status}`;
  return { fate: 'kept', redriven: false, what, hopeless: answer.status === 401 };
}

function parseAnswer(body: string): { status?: unknown; type?: unknown } {
  try {
    return JSON.parse(body);
  } catch {
    return {};
  }
}
