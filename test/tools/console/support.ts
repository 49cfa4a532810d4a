import { request as httpRequest } from 'node:http';
import type { LocalStack, LocalStackOptions } from '../../../local/local-stack.ts';
import { TOKEN_HEADER } from '../../../tools/console/api.ts';
import { type Console, type ConsoleOptions, startConsole } from '../../../tools/console/server/server.ts';
import { Source } from '../../../tools/console/source.ts';
import { LocalFeed } from '../../../tools/stage/history/local-feed.ts';
import { Stage } from '../../../tools/stage/stage.ts';
import { startTestStack, TEST_SECRET } from '../../support/test-stack.ts';

export const TEST_TOKEN = 'test-token';

/** A local stack and its console, as `npm start` has them. */
export interface TestConsole extends AsyncDisposable {
  readonly stack: LocalStack;
  readonly source: Source;
  readonly feed: LocalFeed;
  readonly console: Console;
  readonly api: Api;
}

export async function startTestConsole(
  stackOptions: Partial<LocalStackOptions> = {},
  consoleOptions: Partial<ConsoleOptions> = {},
): Promise<TestConsole> {
  const feed = new LocalFeed();
  const stack = await startTestStack({
    ...stackOptions,
    observer: feed,
    onLog: (line) => feed.onLog(line),
  });
  feed.attach(stack);
  const source = new Source(new Stage('the local stack', stack.outputs), feed.store);
  const console = await startConsole({
    source,
    port: 0,
    token: TEST_TOKEN,
    readOnly: false,
    local: { stack, secret: TEST_SECRET },
    ...consoleOptions,
  });
  source.follow((notice) => console.news.notice(notice));
  return {
    stack,
    source,
    feed,
    console,
    api: new Api(console.port),
    async [Symbol.asyncDispose]() {
      await console.close();
      await source.close();
      await stack.close();
      feed[Symbol.dispose]();
    },
  };
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  /** Of JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says of each answer what it is to be
  readonly body: any;
}

export interface ApiRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Asks a console as no browser would: with any headers. */
export class Api {
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<ApiAnswer> {
    return this.request(path, { headers });
  }

  /** With all that the page sends along. */
  post(path: string, body: unknown): Promise<ApiAnswer> {
    const headers = { 'content-type': 'application/json', [TOKEN_HEADER]: TEST_TOKEN };
    return this.request(path, { method: 'POST', headers, body });
  }

  request(path: string, { method = 'GET', headers = {}, body }: ApiRequest = {}): Promise<ApiAnswer> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        {
          host: '127.0.0.1',
          port: this.#port,
          path,
          method,
          headers: { host: `localhost:${this.#port}`, ...headers },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const bytes = Buffer.concat(chunks);
            const isJson = /json/.test(response.headers['content-type'] ?? '') && bytes.length > 0;
            const isPlain = response.headers['content-encoding'] === undefined;
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              bytes,
              body: isJson && isPlain ? JSON.parse(bytes.toString()) : undefined,
            });
          });
        },
      );
      request.on('error', reject);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}
