import { GetBucketLifecycleConfigurationCommand } from '@aws-sdk/client-s3';
import { RECORDS_PREFIX } from '../../../lambda/archive/record-schema.ts';
import { ARCHIVE_BUFFER_SECONDS } from '../../../lambda/limits.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { duration } from '../../terminal/text.ts';
import { orRefusal } from '../operation.ts';
import type { Stage } from '../stage.ts';
import type { RecordFilter } from './record-filter.ts';

export const DAY = 24 * 60 * 60 * 1000;

/** The day in some days, such as `2026-01-31`. */
export const dateIn = (days: number) => new Date(Date.now() + days * DAY).toISOString().slice(0, 10);

/**
 * Days that S3 may delay an expiry: it expires objects at the following midnight. Source: S3 user guide, "Lifecycle
 * rules".
 */
const LATE_DAYS = 1;

/** Days for which the archive keeps a record. Undefined if unknown: the archive can be read anyway. */
export async function archiveDays(stack: Stage): Promise<number | undefined> {
  const query = new GetBucketLifecycleConfigurationCommand({ Bucket: stack.archiveBucket });
  const found = await orRefusal(stack, () => stack.s3.send(query));
  const rules = 'refused' in found ? [] : (found.Rules ?? []);
  return rules.find(({ Filter, Prefix = Filter?.Prefix }) => Prefix === RECORDS_PREFIX)?.Expiration?.Days;
}

/**
 * Compares a window with the retention of the archive.
 * @returns a sentence about the expired part of the window; undefined if nothing has expired
 * @throws CommandError if the whole window has expired
 */
export async function expiredPart(
  stack: Stage,
  { since, until }: Pick<RecordFilter, 'since' | 'until'>,
): Promise<string | undefined> {
  if (since === undefined && until === undefined) return undefined;
  const days = await archiveDays(stack);
  if (days === undefined) return undefined;
  const oldest = new Date(Date.now() - (days + LATE_DAYS) * DAY);
  const retention = `${stack.title} keeps records for ${days} days`;
  if (until !== undefined && until <= oldest) {
    throw new CommandError(`No records settled before ${until.toISOString()} are left: ${retention}`);
  }
  return since !== undefined && since < oldest
    ? `Records settled earlier have expired: ${retention}.`
    : undefined;
}

/** How late the newest records may be, such as `15 minutes`. Undefined for the local stack, which collects none. */
export function lateness(stack: Stage): string | undefined {
  return stack.local ? undefined : duration(ARCHIVE_BUFFER_SECONDS * 1000);
}
