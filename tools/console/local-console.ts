import { randomBytes } from 'node:crypto';
import type { LocalStack } from '../../local/local-stack.ts';
import type { LocalFeed } from '../stage/history/local-feed.ts';
import { Stage } from '../stage/stage.ts';
import type { News } from './server/console-context.ts';
import { startConsole } from './server/start-console.ts';
import { Source } from './source.ts';

/** Bytes of a token: too many to guess. */
const TOKEN_BYTES = 24;

export const newToken = () => randomBytes(TOKEN_BYTES).toString('base64url');

export interface LocalConsole extends AsyncDisposable {
  readonly url: string;
  /** Value of the page's cookie. */
  readonly token: string;
  readonly news: News;
}

/**
 * Starts the console of a local stack in this process.
 * @param feed must have observed the stack since its start
 * @param port 0 for any free port
 */
export async function startLocalConsole(
  feed: LocalFeed,
  { stack, secret, port }: { stack: LocalStack; secret: string; port: number },
): Promise<LocalConsole> {
  const source = new Source(new Stage('the local stack', stack.outputs), feed.store);
  const token = newToken();
  const console = await startConsole({ source, port, token, readOnly: false, local: { stack, secret } });
  source.follow((notice) => console.news.notice(notice));
  return {
    url: console.url,
    token,
    news: console.news,
    async [Symbol.asyncDispose]() {
      await console.close();
      await source.close();
    },
  };
}
