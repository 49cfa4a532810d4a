import { DeleteObjectsCommand, paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { CommandError } from '../terminal/command-error.ts';
import type { Stage } from './stage.ts';

/** An object as S3 lists it. */
export interface StoredObject {
  readonly key: string;
  /** S3's tag of the content. It changes when the object is rewritten. */
  readonly etag?: string | undefined;
}

/**
 * The objects in a bucket under a prefix, in the order of their keys, page by page.
 * @param StartAfter a key or key prefix: the list starts there
 */
export async function* listObjects(
  { s3 }: Pick<Stage, 's3'>,
  Bucket: string,
  Prefix: string,
  StartAfter?: string,
): AsyncGenerator<StoredObject> {
  for await (const { Contents = [] } of paginateListObjectsV2(
    { client: s3 },
    { Bucket, Prefix, StartAfter },
  )) {
    for (const { Key = '', ETag } of Contents) yield { key: Key, etag: ETag };
  }
}

export async function keysUnder(...given: Parameters<typeof listObjects>): Promise<string[]> {
  return (await Array.fromAsync(listObjects(...given))).map(({ key }) => key);
}

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
