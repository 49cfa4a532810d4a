import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Exchange } from 'local-aws/observation';
import { eventually } from '../../../test/support/eventually.ts';
import { TEST_SECRET } from '../../../test/support/partner.ts';
import { startTestStack } from '../../../test/support/test-stack.ts';
import { pageCommands } from '../../commands/page-commands.ts';
import { cookieName } from '../../console/server/guard.ts';
import { type Console, type ConsoleOptions, startConsole } from '../../console/server/start-console.ts';
import { Source } from '../../console/source.ts';
import type { Delivery } from '../../stage/history/history.ts';
import { LocalFeed } from '../../stage/history/local-feed.ts';
import { HistoryStore } from '../../stage/history/store.ts';
import { Stage } from '../../stage/stage.ts';
import { Operator } from '../stage/queues/support.ts';

const HOUR = 60 * 60_000;

interface RunningConsole {
  readonly source: Source;
  readonly console: Console;
  readonly api: ApiClient;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a console without a stack.
 * @param close called when the console closes
 */
async function start(
  source: Source,
  options: Partial<ConsoleOptions>,
  close: () => unknown,
): Promise<RunningConsole> {
  const defaults = { port: 0, readOnly: false, local: undefined, commands: pageCommands };
  const console = await startConsole({ source, ...defaults, ...options });
  return {
    source,
    console,
    api: new ApiClient(console),
    async [Symbol.asyncDispose]() {
      await console[Symbol.asyncDispose]();
      await close();
    },
  };
}

/** A console without a stack. Tests add deliveries to its feed themselves. */
export async function startConsoleAlone() {
  const feed = new LocalFeed();
  const url = 'http://localhost:1/000000000000/none';
  const stage = new Stage('the local stack', { QuarantineQueueUrl: url, UnroutedQueueUrl: url });
  return { feed, ...(await start(new Source(stage, feed.store), {}, () => feed[Symbol.dispose]())) };
}

export type TestConsole = Awaited<ReturnType<typeof startTestConsole>>;

/** A local stack with its console, as `npm start` runs them. */
export async function startTestConsole() {
  const feed = new LocalFeed();
  const stack = await startTestStack({ observer: feed, onLog: (line) => feed.onLog(line) });
  feed.attach(stack);
  const stage = new Stage('the local stack', stack.outputs).with({ pollMilliseconds: 20 });
  const source = new Source(stage, feed.store);
  const local = { stack, secret: TEST_SECRET };
  const running = await start(source, { local }, async () => {
    await stack.close();
    feed[Symbol.dispose]();
  });
  source.follow((notice) => running.console.updates.notice(notice));
  return { stack, feed, ...running };
}

export type StageConsole = Awaited<ReturnType<typeof startStageConsole>>;

/** The console of a local stack that is shown as a deployed stage, through AWS APIs only. */
export async function startStageConsole(
  aws: Parameters<typeof Operator.create>[0],
  {
    change = (stack) => stack,
    ...options
  }: Partial<ConsoleOptions> & { readonly change?: (stack: Stage) => Stage } = {},
) {
  const operator = await Operator.create(aws);
  const store = new HistoryStore();
  const source = new Source(change(operator.stack), store, new Date(Date.now() - HOUR));
  const running = await start(source, options, () => operator.close());
  /** Subjects of the notices that pages have got. */
  const notices: string[] = [];
  source.follow(({ about }) => notices.push(about));
  return { operator, notices, ...running };
}

/** A request that the gateway has answered, in the form in which the stack reports it. */
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

interface ApiRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Sends requests to a console, with the cookie of its page or any other headers. */
export class ApiClient {
  readonly #console: ConsoleAddress;

  constructor(console: ConsoleAddress) {
    this.#console = console;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}) {
    return this.request(path, { headers });
  }

  post(path: string, body: unknown) {
    return this.request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  }

  /** Runs a command. The answer arrives when it has ended. */
  run(argv: readonly string[], input?: string) {
    return this.post('/api/commands', { argv, input });
  }

  async request(path: string, { method = 'GET', headers = {}, body }: ApiRequest = {}) {
    // A new connection each time: the server may have closed an idle one while a test blocked this process.
    const request = httpRequest({ ...addressOf(this.#console, headers), path, method });
    request.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const bytes = await buffer(response);
    const isJson = /[/+]json/.test(response.headers['content-type'] ?? '') && bytes.length > 0;
    return {
      status: response.statusCode,
      headers: response.headers,
      bytes,
      body: isJson ? JSON.parse(bytes.toString()) : undefined,
    };
  }
}

type ConsoleAddress = Pick<Console, 'port' | 'token'>;

const addressOf = ({ port, token }: ConsoleAddress, headers: Readonly<Record<string, string>> = {}) => ({
  host: '127.0.0.1',
  port,
  agent: false,
  headers: { host: `localhost:${port}`, cookie: `${cookieName(port)}=${token}`, ...headers },
});

/** A client of the event stream, as the page has one. */
export class EventReader {
  readonly #request: ClientRequest;
  /** The beginning of an event whose end has not arrived. */
  #rest = '';
  /** All complete events so far, except those about queues, which may arrive between any others. */
  readonly events: ReadEvent[] = [];
  /** Whether the connection was closed, by either side. */
  isOver = false;

  constructor(console: ConsoleAddress, path = '/api/stream') {
    const onEnd = () => {
      this.isOver = true;
    };
    this.#request = httpRequest({ ...addressOf(console), path }, (response) => {
      response.setEncoding('utf8').on('data', (text: string) => {
        const blocks = `${this.#rest}${text}`.split('\n\n');
        this.#rest = blocks.pop() ?? '';
        this.events.push(...blocks.flatMap(parseEvent).filter(({ event }) => event !== 'queues'));
      });
      response.on('error', () => {}).on('close', onEnd);
    });
    this.#request.on('error', onEnd).end();
  }

  get names(): string[] {
    return this.events.map(({ event }) => event);
  }

  /** The rows of a page after all events. */
  rows(): Map<string, Delivery> {
    const rows = new Map<string, Delivery>();
    for (const { event, data } of this.events) {
      if (event !== 'deliveries') continue;
      for (const row of data.put) rows.set(row.id, row);
      for (const id of data.removed) rows.delete(id);
    }
    return rows;
  }

  async until(wanted: (reader: EventReader) => boolean): Promise<this> {
    await eventually(async () => (wanted(this) ? true : undefined));
    return this;
  }

  ready(): Promise<this> {
    return this.until(({ names }) => names.includes('ready'));
  }

  cut(): void {
    this.#request.destroy();
  }
}

type ReadEvent = ReturnType<typeof parseEvent>[number];

/** @returns undefined for a comment */
function parseEvent(block: string) {
  const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
  const event = field('event');
  return event === undefined ? [] : [{ event, data: JSON.parse(field('data') ?? '') }];
}
