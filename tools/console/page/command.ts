import type { CommandRequest } from '../api.ts';

export interface Command extends CommandRequest {
  /** What the command does, as a sentence. The dialog that asks before a stage is changed shows it. */
  readonly does: string;
  /** Toast for the command's success, such as `Paused shop.updated.` */
  readonly did: string;
  /** Whether the command changes nothing, and so needs no confirmation. */
  readonly reads?: boolean;
}

/**
 * Sends the body of a delivery again.
 * @param keepsHeaders whether to send the delivery's headers, including its signature. Otherwise the body is signed
 * with the current secret
 */
export function resendCommand(id: string, keepsHeaders: boolean): Command {
  return {
    argv: ['send', '--again', id, ...(keepsHeaders ? ['--same-headers'] : [])],
    does: keepsHeaders
      ? 'Sends the same request again, with its own signature.'
      : 'Sends the same body again, signed with the current secret.',
    did: 'Sent again.',
  };
}

/** Signs a body and sends it. */
export const sendCommand = (input: string): Command => ({
  argv: ['send', '--file', '-'],
  input,
  does: 'Signs this body and sends it.',
  did: 'Sent.',
});

export const pauseCommand = (event: string, reason: string): Command => ({
  argv: ['pause', event, '--reason', reason],
  does: `Stops the processing of ${event}. Its deliveries wait on the queue, and one alarm says who paused it and why.`,
  did: `Paused ${event}.`,
});

export const resumeCommand = (event: string): Command => ({
  argv: ['resume', event],
  does: `Starts the processing of ${event} again. Waiting messages are processed.`,
  did: `Resumed ${event}.`,
});
