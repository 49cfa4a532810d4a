import type { LocalStack } from 'local-aws';
import type { LocalFeed } from '../stage/history/local-feed.ts';
import { Stage } from '../stage/stage.ts';
import type { PageCommands } from './server/console-context.ts';
import { type Console, startConsole } from './server/start-console.ts';
import { Source } from './source.ts';

export type LocalConsole = Pick<Console, 'url' | 'token' | 'updates'> & AsyncDisposable;

/**
 * Starts the console of a local stack in the stack's own process.
 * @param feed must have observed the stack from its start
 * @param port 0 for any free port
 */
export async function startLocalConsole(
  feed: LocalFeed,
  {
    stack,
    secret,
    port,
    commands,
  }: { stack: LocalStack; secret: string; port: number; commands: PageCommands },
): Promise<LocalConsole> {
  const source = new Source(new Stage('the local stack', stack.outputs), feed.store);
  const local = { stack, secret };
  const console = await startConsole({ source, port, readOnly: false, local, commands });
  source.follow((notice) => console.updates.notice(notice));
  return {
    ...console,
    async [Symbol.asyncDispose]() {
      await console.close();
      await source.close();
    },
  };
}
