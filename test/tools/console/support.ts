import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { LocalStack, LocalStackOptions } from '../../../local/local-stack.ts';
import type { Exchange } from '../../../local/observation.ts';
import type { Task } from '../../../tools/console/api.ts';
import { cookieName } from '../../../tools/console/server/security.ts';
import { type Console, startConsole } from '../../../tools/console/server/server.ts';
import { Source } from '../../../tools/console/source.ts';
import { LocalFeed } from '../../../tools/stage/history/local-feed.ts';
import { Stage } from '../../../tools/stage/stage.ts';
import { eventually } from '../../support/eventually.ts';
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

export async function startTestConsole(stackOptions: Partial<LocalStackOptions> = {}): Promise<TestConsole> {
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

/** A request that the gateway has answered, as the stack tells its observer. */
export const answered = (requestId: string, body: Buffer, receivedAt = new Date()): Exchange => ({
  requestId,
  receivedAt,
  method: 'POST',
  path: '/api/v1/webhooks/partner',
  query: '',
  headers: [['content-type', 'application/json']],
  sourceIp: '127.0.0.1',
  body,
  status: 200,
  responseHeaders: [],
  responseBody: Buffer.from('{"status":"queued"}'),
  durationMilliseconds: 1,
});

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

/** Asks a console with its cookie, as its page does, or with any other headers. */
export class Api {
  readonly #port: number;
  readonly #cookie: string;

  constructor(port: number, token = TEST_TOKEN) {
    this.#port = port;
    this.#cookie = `${cookieName(port)}=${token}`;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<ApiAnswer> {
    return this.request(path, { headers });
  }

  post(path: string, body: unknown): Promise<ApiAnswer> {
    return this.request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  }

  delete(path: string): Promise<ApiAnswer> {
    return this.request(path, { method: 'DELETE', headers: { 'content-type': 'application/json' } });
  }

  /** A task, once it has ended. */
  ended(id: string): Promise<Task> {
    return eventually(async () => {
      const { body } = await this.get(`/api/tasks/${id}`);
      return body.state === 'running' ? undefined : (body as Task);
    });
  }

  async request(path: string, { method = 'GET', headers = {}, body }: ApiRequest = {}): Promise<ApiAnswer> {
    const own = { host: `localhost:${this.#port}`, cookie: this.#cookie };
    const options = { host: '127.0.0.1', port: this.#port, path, method, headers: { ...own, ...headers } };
    // A connection of its own: the server closes one that waits while a test keeps this process busy.
    const request = httpRequest({ ...options, agent: false });
    request.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const bytes = await buffer(response);
    const isJson = /json/.test(response.headers['content-type'] ?? '') && bytes.length > 0;
    const isPlain = response.headers['content-encoding'] === undefined;
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      bytes,
      body: isJson && isPlain ? JSON.parse(bytes.toString()) : undefined,
    };
  }
}
