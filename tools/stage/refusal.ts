import { CommandError } from '../terminal/command-error.ts';
import type { Stage } from './stage.ts';
import { forPeople } from './work.ts';

/** How AWS names a permission that is missing. */
const NOT_AUTHORIZED = /not authorized to perform: ([\w-]+:[\w*]+)/;

/**
 * Why something is not known, in a line; of a permission that is missing which.
 * @throws what is a fault of the console itself
 */
export function refusalOf(error: unknown, local: boolean): string {
  const said = forPeople(error, local);
  if (!(said instanceof CommandError)) throw error;
  const permission = NOT_AUTHORIZED.exec(said.message)?.[1];
  return permission === undefined ? said.message : `the permission ${permission} is missing`;
}

/** @returns why AWS refuses it, or what the stage lacks for it */
export async function orRefusal<Value>(
  { local }: Stage,
  ask: () => Promise<Value>,
): Promise<Value | { readonly refused: string }> {
  try {
    return await ask();
  } catch (error) {
    // An answer of a service has its name; otherwise, the network or the local stack is away, and nothing can be read.
    const isAnswer = error instanceof Error && '$fault' in error;
    if (!isAnswer && !(error instanceof CommandError)) throw error;
    return { refused: refusalOf(error, local) };
  }
}
