import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

/**
 * What each service answers where all goes well, by its name in the `X-Amz-Target` header. Its own work is next to none:
 * what is measured is whoever calls.
 */
const ANSWERS: Readonly<Record<string, (request: Buffer) => unknown>> = {
  DynamoDB_20120810: () => ({}),
  Firehose_20150804: (request) => {
    const { Records } = JSON.parse(request.toString()) as { Records: unknown[] };
    return { FailedPutCount: 0, RequestResponses: Records.map((_, index) => ({ RecordId: String(index) })) };
  },
};

/** An endpoint of AWS in a process of its own, so that its work is not the caller's. */
export class AnsweringEndpoint implements Disposable {
  readonly url: string;
  readonly #process: ChildProcess;

  /** @param delays of each service's answers in milliseconds, such as `{ DynamoDB_20120810: 5 }` */
  static async start(delays: Readonly<Record<string, number>> = {}): Promise<AnsweringEndpoint> {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), JSON.stringify(delays)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const [port] = await once(child, 'message');
    return new AnsweringEndpoint(child, `http://127.0.0.1:${port}`);
  }

  private constructor(child: ChildProcess, url: string) {
    this.#process = child;
    this.url = url;
  }

  [Symbol.dispose](): void {
    this.#process.kill();
  }
}

function serve(delays: Readonly<Record<string, number>>): void {
  const server = createServer((request, response) => {
    const [service = ''] = String(request.headers['x-amz-target']).split('.');
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const answer = ANSWERS[service]?.(Buffer.concat(chunks));
      const respond = () =>
        response
          .writeHead(answer === undefined ? 400 : 200, { 'content-type': 'application/x-amz-json-1.0' })
          .end(JSON.stringify(answer ?? {}));
      const delay = delays[service];
      if (delay === undefined) respond();
      else setTimeout(respond, delay);
    });
  });
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.(typeof address === 'object' ? address?.port : undefined);
  });
  process.on('disconnect', () => process.exit());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) serve(JSON.parse(process.argv[2] ?? '{}'));
