import type { Permission } from '../permissions.ts';
import type { Messaging } from '../sqs/messaging.ts';

interface ObjectWriterOptions {
  readonly s3: Messaging['s3'];
  /** @throws where the role may not, or is not known */
  permit(roleArn: string, permission: Permission): void;
}

/** Writes objects as a service does that acts with a role. */
export function createObjectWriter({ s3, permit }: ObjectWriterOptions) {
  return async (
    roleArn: string,
    bucket: string,
    key: string,
    body: Buffer,
    isGzip: boolean,
  ): Promise<void> => {
    permit(roleArn, { action: 's3:PutObject', resource: `arn:aws:s3:::${bucket}/${key}` });
    const answer = await s3({
      http: {
        method: 'PUT',
        url: `/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`,
        headers: {
          'content-type': 'application/octet-stream',
          'content-length': String(body.length),
          ...(isGzip && { 'content-encoding': 'gzip' }),
        },
        body,
      },
    });
    if (answer.status === 200) return;
    const [, code = answer.status] = /<Code>([^<]*)/.exec(answer.body.toString()) ?? [];
    throw new Error(`S3 did not take an object for ${bucket}: ${code}`);
  };
}
