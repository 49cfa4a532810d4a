import type { Action, Confirmation, Task, TaskRequest } from '../api.ts';
import { TOKEN_HEADER } from '../api.ts';
import { TOKEN_ADVICE } from './token.ts';

/** Of the server, for a token that is not its own. */
const TOKEN_PROBLEM = 'urn:partner-webhooks-console:problem:token';

/** What the server answered instead of what was asked for, or that it did not answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** 0 where there was no answer. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The console's JSON API. Answers are of the types of `api.ts`: page and server are of one build. */
export class ApiClient {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  async get<T>(path: string, signal?: AbortSignal): Promise<T> {
    return (await this.request(path, signal === undefined ? {} : { signal })).json();
  }

  async post<T>(path: string, body: unknown): Promise<T> {
    const response = await this.request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return response.status === 204 ? (undefined as T) : response.json();
  }

  async delete(path: string): Promise<void> {
    await this.request(path, { method: 'DELETE', headers: { 'content-type': 'application/json' } });
  }

  /** What an action would be, in words. */
  ask(action: Action): Promise<Confirmation> {
    return this.post('/api/tasks', { action, confirmed: false } satisfies TaskRequest);
  }

  act(action: Action): Promise<Task> {
    return this.post('/api/tasks', { action, confirmed: true } satisfies TaskRequest);
  }

  /** @throws ApiError for every answer but 2xx, and for none */
  async request(path: string, init: RequestInit = {}): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(path, {
        ...init,
        headers: { ...init.headers, [TOKEN_HEADER]: this.#token },
      });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new ApiError(0, 'The console’s server does not answer: is its process still running?');
    }
    if (!response.ok) throw new ApiError(response.status, await problemText(response));
    return response;
  }
}

/** The detail of an RFC 9457 problem. */
async function problemText(response: Response): Promise<string> {
  try {
    const { type, detail, title } = await response.json();
    if (type === TOKEN_PROBLEM) return TOKEN_ADVICE;
    return String(detail ?? title ?? `The server answered ${response.status}.`);
  } catch {
    return `The server answered ${response.status}.`;
  }
}
