import { STATUS_CODES } from 'node:http';
import { refusalOf } from '../../stage/operation.ts';
import { CommandError } from '../../terminal/command-error.ts';

/** An error answer as in RFC 9457. A route throws it to end a request. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;

  /** @param detail what is wrong and what to do, in one line */
  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }
}

export function problemResponse({ status, message: detail }: ApiProblem): Response {
  const headers = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' };
  return new Response(JSON.stringify({ title: STATUS_CODES[status], status, detail }), { status, headers });
}

/**
 * Converts an error of a route to an answer. Messages of AWS and of commands are for people and are included;
 * other messages are not.
 * @returns undefined if the error is a bug of the console
 */
export function problemOf(error: unknown): ApiProblem | undefined {
  if (error instanceof ApiProblem) return error;
  if (error instanceof CommandError) return new ApiProblem(409, error.message);
  try {
    return new ApiProblem(502, refusalOf(error, false));
  } catch {
    return undefined;
  }
}

/** One line for each reason, which names all its subjects. */
export const linesByReason = (failures: readonly (readonly [subject: string, reason: string])[]): string[] =>
  [...Map.groupBy(failures, ([, reason]) => reason)].map(
    ([reason, own]) => `${own.map(([subject]) => subject).join(', ')}: ${reason}`,
  );

/** Collects what could not be read. */
export class PartialFailures {
  readonly #failures: (readonly [subject: string, reason: string])[] = [];

  /**
   * @param subject what is read, for the text: `the queue of shop.updated`
   * @returns undefined if the read failed
   * @throws the error if it is a bug of the console
   */
  async unless<Known>(subject: string, read: Promise<Known>): Promise<Known | undefined> {
    try {
      return await read;
    } catch (error) {
      const reason = problemOf(error)?.message;
      if (reason === undefined) throw error;
      this.#failures.push([subject, reason]);
      return undefined;
    }
  }

  get lines(): string[] {
    return linesByReason(this.#failures);
  }
}
