import { setTimeout as sleep } from 'node:timers/promises';
import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import type { Stage } from '../stage.ts';
import type { Fact } from './facts.ts';
import { type FunctionName, followLogs } from './follow-logs.ts';
import { lineFact } from './log-line.ts';
import { readNewestRecords } from './records.ts';

/** Milliseconds between two listings of objects. Firehose writes one every few minutes. */
const ARCHIVE_INTERVAL = { aws: 60_000, local: 2_000 };

interface FollowFactsOptions {
  readonly since: Date;
  readonly signal: AbortSignal;
  /**
   * Called once with the error if a function's log or the archive cannot be read, and with undefined when it can be
   * read again.
   */
  readonly onProblem: (source: FunctionName | 'archive', error: Error | undefined) => void;
}

/** Passes the facts in new log lines to `add`, until the signal is aborted. */
export async function followLines(
  stage: Stage,
  { since, signal, onProblem }: FollowFactsOptions,
  add: (facts: readonly Fact[]) => void,
): Promise<void> {
  const unreadable = new Set<FunctionName>();
  const following = followLogs(stage, {
    since,
    signal,
    onProblem: (name, error) => {
      unreadable.add(name);
      onProblem(name, error);
    },
  });
  for await (const lines of following) {
    // A log that yields lines is readable again.
    for (const { function: name } of lines) if (unreadable.delete(name)) onProblem(name, undefined);
    add(lines.flatMap(({ text }) => lineFact(text) ?? []));
  }
}

/**
 * Passes records to `add` as the archive receives them, object by object, until the signal is aborted. A record may be
 * repeated, also because `forget` has removed its payload.
 */
export async function followArchive(
  stage: Stage,
  { since, signal, onProblem }: FollowFactsOptions,
  add: (records: readonly ArchiveRecord[], object: string) => void,
): Promise<void> {
  const read = new Map<string, string | undefined>();
  let isUnreadable = false;
  while (stage.hasArchive && !signal.aborted) {
    try {
      await readNewestRecords(stage, { since, read, signal }, (records, object) =>
        add(
          records.filter(({ settledAt }) => Date.parse(settledAt) >= since.getTime()),
          object,
        ),
      );
      if (isUnreadable) onProblem('archive', undefined);
      isUnreadable = false;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (!isUnreadable && !signal.aborted) onProblem('archive', error);
      isUnreadable = true;
    }
    const interval = stage.local ? ARCHIVE_INTERVAL.local : ARCHIVE_INTERVAL.aws;
    await sleep(interval, undefined, { signal }).catch(() => {});
  }
}
