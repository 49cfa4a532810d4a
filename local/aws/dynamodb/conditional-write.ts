import type { IncomingHttpHeaders } from 'node:http';
import { AwsError } from '../aws-error.ts';

type Head = () => Promise<{
  readonly status: number;
  readonly headers?: Record<string, unknown> | undefined;
}>;

/**
 * Writes of objects on a condition, which fauxqs writes in any case. They are done one after the other, so that of
 * two on the same condition one holds. Source: S3 user guide, "How to prevent object overwrites with conditional writes".
 */
export class ConditionalWrites {
  #last: Promise<unknown> = Promise.resolve();

  /**
   * @param head looks at what is there now
   * @throws AwsError PreconditionFailed, or NoSuchKey where what is to be replaced is not there
   */
  do<Answer>(headers: IncomingHttpHeaders, head: Head, write: () => Promise<Answer>): Promise<Answer> {
    const { 'if-match': match, 'if-none-match': noneMatch } = headers;
    if (match === undefined && noneMatch === undefined) return write();
    const written = this.#last.then(async () => {
      const { status, headers: { etag } = {} } = await head();
      const exists = status === 200;
      if (match !== undefined && !exists) {
        throw new AwsError('NoSuchKey', 'The specified key does not exist.', { status: 404 });
      }
      if ((match !== undefined && etag !== match) || (noneMatch !== undefined && exists)) {
        const message = 'At least one of the pre-conditions you specified did not hold';
        throw new AwsError('PreconditionFailed', message, { status: 412 });
      }
      return write();
    });
    this.#last = written.catch(() => {});
    return written;
  }
}
