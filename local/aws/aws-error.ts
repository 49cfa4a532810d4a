import type { JsonObject } from './json.ts';

interface AwsErrorOptions {
  /** HTTP status; 400 unless told. */
  status?: number;
  /** Further fields of the error in the JSON protocols. */
  details?: JsonObject;
}

/** An error that the client is to see as one of the service's own. */
export class AwsError extends Error {
  override name = 'AwsError';
  readonly code: string;
  readonly status: number;
  readonly details: JsonObject;

  constructor(code: string, message: string, { status = 400, details = {} }: AwsErrorOptions = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.details = details;
  }
}
