import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface RecordedCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface RecorderAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpRecorder {
  readonly url: string;
  readonly requests: readonly RecordedCall[];
  close(): Promise<void>;
}

/**
 * Starts a recorder on a free port.
 * @param answer may wait, or never end
 */
export async function startHttpRecorder(
  answer: (request: RecordedCall) => RecorderAnswer | Promise<RecorderAnswer>,
): Promise<HttpRecorder> {
  const requests: RecordedCall[] = [];
  const server = createServer(async (incoming, response) => {
    const { method = '', url: path = '', headers } = incoming;
    const request = { method, path, headers, body: await text(incoming) };
    requests.push(request);
    const { status, headers: answerHeaders, body } = await answer(request);
    response.writeHead(status, answerHeaders).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}
