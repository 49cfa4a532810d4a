import { randomBytes } from 'node:crypto';
import type { LocalStack } from '../../local/local-stack.ts';
import { Stage } from '../stage/stage.ts';
import type { LocalRecorder } from './local-recorder.ts';
import { LocalSource } from './local-source.ts';
import type { News } from './server/news.ts';
import { startConsole } from './server/server.ts';

/** Bytes of a token: nobody guesses it. */
const TOKEN_BYTES = 24;

/** Of a console, new with each. */
export const newToken = () => randomBytes(TOKEN_BYTES).toString('base64url');

export interface LocalConsole extends AsyncDisposable {
  readonly url: string;
  /** What changes something has to show. */
  readonly token: string;
  readonly news: News;
}

/**
 * The console of a local stack in this process.
 * @param recorder the stack's observer, from its start
 * @param port 0 for any free one
 */
export async function startLocalConsole(
  recorder: LocalRecorder,
  { stack, secret, port }: { stack: LocalStack; secret: string; port: number },
): Promise<LocalConsole> {
  const source = new LocalSource(recorder, new Stage('the local stack', stack.outputs));
  const token = newToken();
  const console = await startConsole({ source, port, token, readOnly: false, local: { stack, secret } });
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
