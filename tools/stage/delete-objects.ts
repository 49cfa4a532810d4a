import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { CommandError } from '../terminal/command-error.ts';
import type { Stage } from './stage.ts';

/** Maximum keys per call. Source: S3 API reference, `DeleteObjects`. */
const MAX_KEYS = 1_000;

/** @throws CommandError if S3 does not delete one of them */
export async function deleteObjects(
  { s3 }: Pick<Stage, 's3'>,
  Bucket: string,
  keys: Iterable<string>,
): Promise<void> {
  const left = [...keys];
  while (left.length > 0) {
    const Objects = left.splice(0, MAX_KEYS).map((Key) => ({ Key }));
    const command = new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } });
    const { Errors: [error] = [] } = await s3.send(command);
    if (error !== undefined) throw new CommandError(`${error.Key} could not be deleted: ${error.Code}`);
  }
}
