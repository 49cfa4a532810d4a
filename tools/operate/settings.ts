import { LOCAL_SECRET } from '../../events/signing.ts';
import { CommandError } from '../terminal/command-error.ts';

/** Where a running local stack says what it is, and where `cdk synth` leaves its template. */
export const LOCAL_FOLDER = '.local';
export const OUTPUTS_FILE = `${LOCAL_FOLDER}/outputs.json`;
export const FUNCTIONS_FILE = `${LOCAL_FOLDER}/functions.json`;
export const ASSEMBLY_FOLDER = `${LOCAL_FOLDER}/cdk.out`;

/** A TCP port. @throws CommandError where the text is none */
export function parsePort(text: string, option: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new CommandError(`--${option} must be a port number from 0 to 65535, not '${text}'`);
  }
  return port;
}

/** The webhook secret of a command: its option, else WEBHOOK_SECRET, else the local one. */
export function chooseSecret(option: string | undefined): string {
  const secret = option ?? process.env.WEBHOOK_SECRET ?? LOCAL_SECRET;
  if (secret === '') throw new CommandError('The secret must not be empty: anybody could sign with it');
  return secret;
}
