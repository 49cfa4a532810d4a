import type { TaskRequest } from '../api.ts';

export interface Command extends TaskRequest {
  /** A sentence about what it does. On a stage it is shown with the confirmation. */
  readonly does: string;
  /** A sentence for a toast when it has ended: `Paused shop.updated.` Without it, the view itself shows the output. */
  readonly did?: string;
  /** It only reads, so it needs no confirmation. */
  readonly reads?: boolean;
}

/**
 * Sends the body of a delivery again.
 * @param keepsHeaders with its own signature, as it was received. Otherwise signed with the current secret
 */
export function resendCommand(id: string, keepsHeaders: boolean): Command {
  return {
    argv: ['send', '--again', id, ...(keepsHeaders ? ['--same-headers'] : [])],
    does: keepsHeaders
      ? 'Sends the same request again, with its own signature.'
      : 'Sends the same body again, signed with the current secret.',
  };
}
