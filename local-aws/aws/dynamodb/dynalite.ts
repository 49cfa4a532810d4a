import { Worker } from 'node:worker_threads';
import { AwsError } from '../errors.ts';
import { type JsonObject, parseJsonObject, textOf } from '../json.ts';
import { REGION } from '../service-forms.ts';

interface DynaliteAnswer {
  /** Number of the call. */
  readonly id: number;
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

/**
 * dynalite in a thread of its own, with its tables in memory. On an internal error it ends its thread, and would end
 * this process.
 */
export class Dynalite {
  readonly #calls = new Map<number, Omit<PromiseWithResolvers<DynaliteAnswer>, 'promise'>>();
  #worker: Worker | undefined;
  #failure: Error | undefined;
  #count = 0;

  /**
   * Runs one operation of DynamoDB.
   * @throws AwsError with DynamoDB's error, or InternalServerError if dynalite itself fails or has failed
   */
  async call(operation: string, parameters: JsonObject): Promise<JsonObject> {
    const { status, body } = await this.#send(operation, JSON.stringify(parameters)).catch((error: Error) => {
      const message = `dynalite has failed, and the tables are lost: ${error.message}`;
      throw new AwsError('InternalServerError', message, { status: 500 });
    });
    const document = parseJsonObject(body) ?? {};
    if (status === 200) return document;
    const code = textOf(document, '__type')?.split('#').at(-1) ?? 'InternalServerError';
    const message = textOf(document, 'message') ?? textOf(document, 'Message') ?? code;
    throw new AwsError(code, message, { status });
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #send(operation: string, body: string): Promise<DynaliteAnswer> {
    this.#worker ??= this.#start();
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#count += 1;
    const { promise, resolve, reject } = Promise.withResolvers<DynaliteAnswer>();
    this.#calls.set(this.#count, { resolve, reject });
    this.#worker.postMessage({ id: this.#count, operation, body });
    return promise;
  }

  #start(): Worker {
    // dynalite reads the region of its ARNs from its environment. The file is JavaScript, because the thread would need
    // 50 ms more for TypeScript.
    const worker = new Worker(new URL('dynalite-worker.js', import.meta.url), {
      env: { AWS_REGION: REGION },
    });
    worker.on('message', (answer: DynaliteAnswer) => {
      this.#calls.get(answer.id)?.resolve(answer);
      this.#calls.delete(answer.id);
    });
    worker.on('error', (error: Error) => {
      this.#failure = error;
      for (const { reject } of this.#calls.values()) reject(error);
    });
    return worker;
  }
}
