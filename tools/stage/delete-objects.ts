import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { CommandError } from '../terminal/command-error.ts';
import type { Stage } from './stage.ts';

/** Maximum keys per call. Source: S3 API reference, `DeleteObjects`. */
const MAX_KEYS = 1_000;

/** @throws CommandError that names an object that could not be deleted */
export async function deleteObjects(
  { s3 }: Pick<Stage, 's3'>,
  Bucket: string,
  keys: readonly string[],
): Promise<void> {
  for (let from = 0; from < keys.length; from += MAX_KEYS) {
    const Objects = keys.slice(from, from + MAX_KEYS).map((Key) => ({ Key }));
    const command = new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } });
    const { Errors: [error] = [] } = await s3.send(command);
    if (error !== undefined) throw new CommandError(`${error.Key} could not be deleted: ${error.Code}`);
  }
}
