import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip as gzipWithCallback } from 'node:zlib';
import { AwsError } from '../errors.ts';

const gzip = promisify(gzipWithCallback);

/**
 * Milliseconds to collect records of an object. Firehose collects for minutes, because each object costs
 * money, but developers should not wait.
 */
const BUFFER_MS = 250;

/** Milliseconds between two attempts to write an object. */
const RETRY_MS = 1_000;

interface DeliveryStreamOptions {
  readonly name: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly fileExtension: string;
  /** Writes a gzipped object to a bucket. @throws Error if the object is not written */
  readonly write: (bucket: string, key: string, body: Buffer) => Promise<void>;
  /** Called once with each reason why records cannot be written to the bucket. */
  readonly onProblem: (message: string) => void;
}

export type DeliveryStream = ReturnType<typeof createDeliveryStream>;

/** A stream: collects records for a moment and writes them as one object. A failed write is repeated. */
export function createDeliveryStream(options: DeliveryStreamOptions) {
  const { name, bucket, prefix, fileExtension, write, onProblem } = options;
  const problems = new Set<string>();
  const deliveries = new Set<Promise<void>>();
  const closing = new AbortController();
  let records: Buffer[] = [];
  let firstArrival = new Date(0);
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    if (records.length === 0) return;
    const delivery = deliver(records, firstArrival);
    records = [];
    deliveries.add(delivery);
    delivery.finally(() => deliveries.delete(delivery));
  }

  function reportOnce(reason: string): void {
    if (!problems.has(reason)) onProblem(`${name}: ${reason}`);
    problems.add(reason);
  }

  async function deliver(delivered: readonly Buffer[], arrived: Date): Promise<void> {
    const { signal } = closing;
    const file = `${name}-${VERSION}-${formatted(OBJECT_TIME, arrived)}-${randomUUID()}${fileExtension}`;
    const key = evaluatedPrefix(prefix, arrived) + file;
    const body = await gzip(Buffer.concat(delivered));
    for (;;) {
      try {
        return await write(bucket, key, body);
      } catch (error) {
        reportOnce(error instanceof Error ? error.message : String(error));
      }
      const isOver = await sleep(RETRY_MS, signal.aborted, { signal }).catch(() => true);
      if (isOver) return onProblem(`${name}: ${delivered.length} records were never delivered to ${bucket}`);
    }
  }

  return {
    /** Accepts records. They are written to the bucket a moment later. */
    add(added: readonly Buffer[]): void {
      if (records.length === 0) {
        firstArrival = new Date();
        timer = setTimeout(flush, BUFFER_MS);
      }
      records.push(...added);
    },

    /** Writes the remaining records. A failed write is not repeated. */
    async close(): Promise<void> {
      closing.abort();
      clearTimeout(timer);
      flush();
      await Promise.all(deliveries);
    },
  };
}

/** Expressions of a prefix that are evaluated for each object, such as `!{timestamp:yyyy-MM-dd}`. */
const EXPRESSION = /!\{(\w+):([^}]*)\}/g;

/** The supported letters of Java's DateTimeFormatter, and where they are in a time of ISO 8601. */
const FIELDS: Readonly<Record<string, readonly [start: number, end: number]>> = {
  yyyy: [0, 4],
  MM: [5, 7],
  dd: [8, 10],
  HH: [11, 13],
  mm: [14, 16],
  ss: [17, 19],
};

/** Time format that Firehose appends to a prefix without an expression. */
const DEFAULT_TIME = 'yyyy/MM/dd/HH/';

/** Time format in the name of an object, after the stream's name and the version of its configuration. */
const OBJECT_TIME = 'yyyy-MM-dd-HH-mm-ss';
const VERSION = '1';

/**
 * Evaluates the prefix of an object, with the UTC time when its first record arrived. Source: Firehose
 * developer guide, "Understand custom prefixes for Amazon S3 objects".
 * @throws AwsError that names an expression that is not supported here
 */
export function evaluatedPrefix(prefix: string, arrived: Date): string {
  if (prefix.search(EXPRESSION) === -1) return prefix + formatted(DEFAULT_TIME, arrived);
  return prefix.replace(EXPRESSION, (expression, namespace: string, value: string) => {
    if (namespace !== 'timestamp') throw unsupported(expression);
    return formatted(value, arrived);
  });
}

function formatted(pattern: string, time: Date): string {
  return pattern.replace(/([A-Za-z'])\1*/g, (token) => {
    const field = FIELDS[token];
    if (field === undefined) throw unsupported(token);
    return time.toISOString().slice(...field);
  });
}

function unsupported(what: string): AwsError {
  const fields = Object.keys(FIELDS).join(', ');
  const message = `The local stack supports !{timestamp:} with ${fields}, but not ${what}`;
  return new AwsError('InvalidArgumentException', message);
}
