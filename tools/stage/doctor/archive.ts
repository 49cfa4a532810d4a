import { DescribeDeliveryStreamCommand } from '@aws-sdk/client-firehose';
import { GetBucketLifecycleConfigurationCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { ARCHIVE_BUFFER_SECONDS } from '../../../lambda/limits.ts';
import {
  eventTimes,
  failure,
  type Inspection,
  ok,
  problemsOr,
  revertDrift,
  type StageCheck,
  since,
  skipped,
  tally,
  warning,
} from './inspection.ts';

/** Milliseconds from a delivery to its object, in addition to Firehose's buffer: consumer, first retries, write. */
const MARGIN = 15 * 60 * 1000;

const checks: readonly StageCheck[] = [
  {
    name: 'streams',
    needs: ['firehose:DescribeDeliveryStream'],
    why: 'Its consumer cannot archive: each message is tried again, and becomes a dead letter.',
    async run({ stage }) {
      const results = stage.events.map(async (event) => {
        const DeliveryStreamName = stage.event(event).archiveStream;
        const query = new DescribeDeliveryStreamCommand({ DeliveryStreamName });
        const { DeliveryStreamDescription: stream } = await stage.firehose.send(query);
        const encryption = stream?.DeliveryStreamEncryptionConfiguration?.Status ?? '';
        if (stream?.DeliveryStreamStatus === 'ACTIVE' && !encryption.endsWith('_FAILED')) return undefined;
        const fix = `aws firehose describe-delivery-stream --delivery-stream-name ${DeliveryStreamName}`;
        return failure(`${event}: ${stream?.DeliveryStreamStatus}, encryption ${encryption || 'off'}`, {
          fix,
        });
      });
      return problemsOr(`${results.length} ACTIVE`, await Promise.all(results));
    },
  },
  {
    name: 'newest objects',
    needs: ['s3:ListBucket', 'logs:StartQuery', 'logs:GetQueryResults'],
    why: 'The last event waits or fails, or Firehose cannot write. What it does not write cannot be replayed.',
    fix: ({ stage }) => stage.command('list'),
    async run(inspection) {
      const { stage } = inspection;
      const deliveries = await inspection.lastDeliveries();
      const wait = ARCHIVE_BUFFER_SECONDS * 1000 + MARGIN;
      const results = stage.events.map(async (event) => {
        const at = await newestObject(stage, event);
        const delivery = deliveries.get(event);
        const isLate = delivery && since(delivery) > wait && (at === undefined || at < delivery);
        return { event, at, isLate };
      });
      const found = await Promise.all(results);
      const times = new Map(found.map(({ event, at }) => [event, at]));
      const late = found.filter(({ isLate }) => isLate).map(({ event }) => event);
      if (late.length > 0) return warning(`older than the last delivery: ${late.join(', ')}`);
      return ok(eventTimes(stage.events, (event) => times.get(event)));
    },
  },
  {
    name: 'delivery errors',
    needs: ['logs:FilterLogEvents'],
    why: 'Firehose retries for 24 hours, then it drops the records. See "Archive failing" in docs/operations.md.',
    async run(inspection) {
      if (inspection.isLocalStack) return skipped('not on the local stack');
      const log = await inspection.logGroup('ArchiveLog');
      const lines = await inspection.logLines(log ?? '', '"errorCode"', 24);
      if (lines.length === 0) return ok('none in the last day');
      const seen = `in the last day: ${tally(lines.map(({ errorCode }) => String(errorCode)))}`;
      return failure(seen, { fix: `aws logs tail ${log} --since 1d` });
    },
  },
  {
    name: 'retention',
    needs: ['s3:GetLifecycleConfiguration'],
    why: 'Personal data is kept longer than promised, or a replay finds less than expected.',
    fix: revertDrift,
    async run(inspection) {
      const rules = (await inspection.resources('AWS::S3::Bucket')).flatMap(
        ({ properties }) => properties.LifecycleConfiguration?.Rules ?? [],
      );
      const wanted = rules.find(({ Prefix }) => Prefix === 'event=')?.ExpirationInDays;
      const Bucket = inspection.stage.archiveBucket;
      const query = new GetBucketLifecycleConfigurationCommand({ Bucket });
      const lifecycle = await inspection.stage.s3.send(query).catch((error: Error) => {
        if (error.name === 'NoSuchLifecycleConfiguration') return undefined;
        throw error;
      });
      const rule = lifecycle?.Rules?.find(({ Filter, Prefix = Filter?.Prefix }) => Prefix === 'event=');
      const days = rule?.Status === 'Enabled' ? rule.Expiration?.Days : undefined;
      if (days === wanted) return ok(`${days} days`);
      return failure(`${days === undefined ? 'no limit' : `${days} days`} instead of ${wanted} days`);
    },
  },
];

export const archiveChecks: readonly StageCheck[] = checks.map((check) => ({
  ...check,
  run: async (inspection) =>
    inspection.stage.hasArchive ? check.run(inspection) : skipped('no archive (archive.days is 0)'),
}));

/** Opens the newest date and its newest hour, instead of listing all objects. */
async function newestObject({ s3, archiveBucket }: Inspection['stage'], event: EventName) {
  let Prefix = `event=${event}/date=`;
  for (let depth = 0; depth < 2; depth += 1) {
    const query = { Bucket: archiveBucket, Prefix, Delimiter: '/' };
    const { CommonPrefixes = [] } = await s3.send(new ListObjectsV2Command(query));
    Prefix = CommonPrefixes.at(-1)?.Prefix ?? Prefix;
  }
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: archiveBucket, Prefix }));
  const times = Contents.map(({ LastModified }) => Number(LastModified));
  return times.length === 0 ? undefined : new Date(Math.max(...times));
}
