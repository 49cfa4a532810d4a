import type { JsonObject } from './json.ts';

/** An error that an AWS client gets in the service's own format. */
export class AwsError extends Error {
  override name = 'AwsError';
  readonly code: string;
  readonly status: number;
  /** Additional fields of the error in the JSON protocols. */
  readonly details: JsonObject;

  constructor(code: string, message: string, options: { status?: number; details?: JsonObject } = {}) {
    super(message);
    this.code = code;
    this.status = options.status ?? 400;
    this.details = options.details ?? {};
  }
}
