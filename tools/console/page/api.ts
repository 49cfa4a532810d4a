import type {
  CommandRequest,
  CommandRun,
  DeliveryDetail,
  QueuesInfo,
  StackInfo,
  WaitingMessages,
} from '../api.ts';

const encode = encodeURIComponent;

const bodyAddress = (id: string) => `/api/deliveries/${encode(id)}/body`;

/** Client of the console's JSON API. The server uses the same types, from the same build. */
export const api = {
  stack: () => get<StackInfo>('/api/stack'),
  delivery: (id: string, signal?: AbortSignal) =>
    get<DeliveryDetail>(`/api/deliveries/${encode(id)}`, signal),
  bodyAddress,
  body: (id: string, signal?: AbortSignal) => getBody(bodyAddress(id), signal),
  /** Makes the server read the queues now. The stream brings their state. */
  queues: () => get<QueuesInfo>('/api/queues'),
  needsYou: (signal?: AbortSignal) => get<WaitingMessages>('/api/needs-you', signal),
  messageBody: (id: string, signal?: AbortSignal) => getBody(`/api/needs-you/${encode(id)}/body`, signal),
  /** Runs a command until it ends. */
  async run({ argv, input }: CommandRequest): Promise<CommandRun> {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ argv, input });
    const answer = await request('/api/commands', { method: 'POST', headers, body });
    return answer.json().catch(() => {
      throw new Error(`The connection was lost. It is unknown how this ended: ${argv.join(' ')}`);
    });
  },
};

export interface DeliveryBody {
  /** The bytes as UTF-8. Invalid sequences are replaced by U+FFFD. */
  readonly text: string;
  readonly isUtf8: boolean;
}

export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await request(path, { signal: signal ?? null })).json();
}

async function getBody(path: string, signal?: AbortSignal): Promise<DeliveryBody> {
  const bytes = new Uint8Array(await (await request(path, { signal: signal ?? null })).arrayBuffer());
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, isUtf8: true };
  } catch {
    return { text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), isUtf8: false };
  }
}

/** @throws Error if the status is not 2xx, or there is no answer */
async function request(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, init);
    // After a restart, the local console expects a new cookie, which comes with the page. A 403 has changed nothing.
    if (response.status === 403 && (await fetch('/')).ok) response = await fetch(path, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Error('The console’s server does not answer. Check that its process is still running.');
  }
  if (!response.ok) throw new Error(await problemText(response));
  return response;
}

/** Text of the field `detail` in an RFC 9457 problem. */
async function problemText(response: Response): Promise<string> {
  try {
    const { detail, title } = await response.json();
    return String(detail ?? title);
  } catch {
    return `The server answered ${response.status}.`;
  }
}
