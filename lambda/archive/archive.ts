import { FirehoseClient, PutRecordBatchCommand } from '@aws-sdk/client-firehose';
import { clientSettings } from '../aws-clients.ts';
import { MAX_RECORD_BYTES } from '../limits.ts';
import type { ArchiveRecord } from './record-schema.ts';

/**
 * Maximum bytes of a request, with base64 and the JSON around the records. Source: Firehose API reference,
 * `PutRecordBatch`. The other limit of this call, 500 records, is never reached: a batch has at most 10 messages
 * (`batchSize` in `lib/config.ts`).
 */
const MAX_CALL_BYTES = 4 * 1024 * 1024;

export const archiveLine = (record: ArchiveRecord): string => `${JSON.stringify(record)}\n`;

/** Bytes of a record in a request: base64 has four characters for three bytes. */
const bytesInRequest = (line: Buffer) => '{"Data":""},'.length + 4 * Math.ceil(line.length / 3);

/** The archive did not accept a record. A retry may succeed. */
export class NotArchivedError extends Error {
  override readonly name = 'NotArchivedError';
}

/**
 * A record that the archive can never store. The receiver stores large payloads in S3, so such a message did not come
 * from the receiver, or is older than the archive.
 */
export class TooLargeToArchiveError extends Error {
  override readonly name = 'TooLargeToArchiveError';
}

/** Writes the outcomes of an event's messages to the event's delivery stream. */
export class Archive {
  readonly #client = new FirehoseClient(clientSettings);
  readonly #stream: string;

  constructor(stream: string) {
    this.#stream = stream;
  }

  /** @returns undefined if the stage keeps no archive */
  static fromEnvironment(): Archive | undefined {
    const { ARCHIVE_STREAM } = process.env;
    return ARCHIVE_STREAM ? new Archive(ARCHIVE_STREAM) : undefined;
  }

  /**
   * Archives the records of a batch, in as few calls as possible.
   * @returns for each record the reason why it was not archived; undefined if it was
   */
  async put(records: readonly ArchiveRecord[]): Promise<readonly (Error | undefined)[]> {
    const failures: (Error | undefined)[] = records.map(() => undefined);
    const lines = records.map((record) => Buffer.from(archiveLine(record)));
    // The last record has no comma.
    const frame = JSON.stringify({ DeliveryStreamName: this.#stream, Records: [] }).length - 1;
    const calls: number[][] = [];
    let bytes = Number.POSITIVE_INFINITY;
    for (const [index, line] of lines.entries()) {
      if (line.length > MAX_RECORD_BYTES) {
        failures[index] = new TooLargeToArchiveError(
          `${line.length} bytes as a record, more than the maximum of ${MAX_RECORD_BYTES}`,
        );
        continue;
      }
      bytes += bytesInRequest(line);
      if (bytes > MAX_CALL_BYTES) {
        calls.push([]);
        bytes = frame + bytesInRequest(line);
      }
      calls.at(-1)?.push(index);
    }
    await Promise.all(
      calls.map(async (indexes) => {
        const ofCall = await this.#call(indexes.map((index) => lines[index] as Buffer));
        for (const [position, index] of indexes.entries()) failures[index] = ofCall[position];
      }),
    );
    return failures;
  }

  async #call(lines: readonly Buffer[]): Promise<readonly (Error | undefined)[]> {
    try {
      const { RequestResponses = [] } = await this.#client.send(
        new PutRecordBatchCommand({
          DeliveryStreamName: this.#stream,
          Records: lines.map((Data) => ({ Data })),
        }),
      );
      return lines.map((_, position) => {
        const { RecordId, ErrorCode = 'NoAnswer' } = RequestResponses[position] ?? {};
        return RecordId === undefined ? new NotArchivedError(ErrorCode) : undefined;
      });
    } catch (error) {
      return lines.map(() => error as Error);
    }
  }
}
