import type { JsonObject } from './json.ts';

interface AwsErrorOptions {
  status?: number;
  /** Additional fields of the error in the JSON protocols. */
  details?: JsonObject;
}

/** An error that an AWS client gets in the service's own format. */
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
