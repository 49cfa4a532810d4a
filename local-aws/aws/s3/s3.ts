import { AwsError } from '../errors.ts';
import type { Fauxqs } from '../fauxqs.ts';
import type { AwsResponse } from '../response.ts';
import type { AwsHttpRequest } from '../services.ts';

/** S3: fauxqs, plus conditional writes, which fauxqs lacks. */
export function createS3(fauxqs: Fauxqs) {
  let lastConditionalWrite: Promise<unknown> = Promise.resolve();

  function answer(http: AwsHttpRequest): Promise<AwsResponse> {
    const { 'if-match': match, 'if-none-match': noneMatch } = http.headers;
    if (http.method !== 'PUT' || (match === undefined && noneMatch === undefined)) return fauxqs.send(http);
    // Conditional writes run one after another, so that only one of two writes with the same condition succeeds.
    const written = lastConditionalWrite.then(async () => {
      await assertCondition(http);
      return fauxqs.send(http);
    });
    lastConditionalWrite = written.catch(() => {});
    return written;
  }

  /**
   * Checks the condition of a write, which fauxqs ignores. Source: S3 user guide, "How to prevent object
   * overwrites with conditional writes".
   * @throws AwsError PreconditionFailed, or NoSuchKey if there is no object to replace
   */
  async function assertCondition({ url, headers }: AwsHttpRequest): Promise<void> {
    const { 'if-match': match, 'if-none-match': noneMatch } = headers;
    const { status, headers: found } = await fauxqs.send({ method: 'HEAD', url, headers: {}, body: '' });
    const exists = status === 200;
    if (match !== undefined && !exists) {
      throw new AwsError('NoSuchKey', 'The specified key does not exist.', { status: 404 });
    }
    if ((match !== undefined && found.etag !== match) || (noneMatch !== undefined && exists)) {
      const message = 'At least one of the pre-conditions you specified did not hold';
      throw new AwsError('PreconditionFailed', message, { status: 412 });
    }
  }

  return {
    answer,
    /** @throws Error if S3 rejects the object */
    async putGzip(bucket: string, key: string, body: Buffer): Promise<void> {
      const { status, body: document } = await fauxqs.send({
        method: 'PUT',
        url: `/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`,
        headers: {
          'content-type': 'application/octet-stream',
          'content-length': String(body.length),
          'content-encoding': 'gzip',
        },
        body,
      });
      if (status === 200) return;
      const [, code = status] = /<Code>([^<]*)/.exec(document.toString()) ?? [];
      throw new Error(`S3 did not accept an object for ${bucket}: ${code}`);
    },
  };
}
