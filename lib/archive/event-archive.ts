import { Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnDeliveryStream } from 'aws-cdk-lib/aws-kinesisfirehose';
import { LogStream } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { RECORDS_PREFIX } from '../../lambda/archive/record-schema.ts';
import { type EventName, eventNames } from '../../lambda/events/catalogue.ts';
import { pascalCase } from '../../lambda/events/event-names.ts';
import { ARCHIVE_BUFFER_SECONDS } from '../../lambda/limits.ts';
import type { Alarms } from '../alarms/alarms.ts';
import { logLink } from '../alarms/console-links.ts';
import { countedMetrics, countLines, type MetricSource, metricsUnder } from '../alarms/log-metrics.ts';
import { ProtectedBucket, ProtectedLog, type StoredProps } from '../pipeline/protected-storage.ts';
import type { FunctionAccess, FunctionDefaults } from '../pipeline/webhook-function.ts';
import { ArchiveQueries } from './archive-queries.ts';

interface EventArchiveProps extends StoredProps, Pick<FunctionDefaults, 'logRetention'> {
  /** Days that records are kept. */
  readonly days: number;
  readonly alarms: Alarms;
}

/**
 * Part of Firehose's log lines about an object that it could not write. Source: Firehose developer guide, "Monitor
 * using CloudWatch Logs".
 */
const FAILED = '"errorCode"';

/** Megabytes of uncompressed records after which an object is written early, so that objects are quick to read. */
const BUFFER_MEGABYTES = 64;

/**
 * Stores the outcome of each message: a delivery stream per event writes into one bucket, under
 * `event=<kind>/date=YYYY-MM-DD/hour=HH/` by the time of writing, as gzipped JSON lines
 * (`lambda/archive/record-schema.ts`).
 */
export class EventArchive extends Construct {
  readonly bucket: ProtectedBucket;
  readonly outputs: Readonly<Record<string, string>>;
  readonly #streams: Readonly<Record<EventName, CfnDeliveryStream>>;

  constructor(scope: Construct, id: string, props: EventArchiveProps) {
    super(scope, id);
    const { days, encryption, removalPolicy, logRetention, alarms } = props;
    this.bucket = new ProtectedBucket(this, 'Bucket', {
      encryption,
      removalPolicy,
      lifecycleRule: { prefix: RECORDS_PREFIX, expiration: Duration.days(days) },
    });

    const log = new ProtectedLog(this, 'Log', { encryption, retention: logRetention, removalPolicy });
    const { account } = Stack.of(this);
    const writer = new Role(this, 'Writer', {
      description: 'Delivery streams write the archive with it.',
      assumedBy: new ServicePrincipal('firehose.amazonaws.com', {
        // Source: Firehose developer guide, "Controlling access with Amazon Data Firehose".
        conditions: { StringEquals: { 'sts:ExternalId': account } },
      }),
    });
    const permissions = [
      new PolicyStatement({
        // The actions are as in AWS's sample policy: Firehose developer guide, "Grant Firehose access to an Amazon S3
        // destination".
        actions: ['s3:AbortMultipartUpload', 's3:GetObject', 's3:PutObject'],
        resources: [this.bucket.arnForObjects(`${RECORDS_PREFIX}*`)],
      }),
      new PolicyStatement({
        actions: ['s3:GetBucketLocation', 's3:ListBucket', 's3:ListBucketMultipartUploads'],
        resources: [this.bucket.bucketArn],
      }),
      new PolicyStatement({ actions: ['logs:PutLogEvents'], resources: [log.logGroupArn] }),
    ];
    for (const statement of permissions) writer.addToPolicy(statement);
    encryption.grant(writer, permissions);
    if (encryption.key) {
      // AWS documents this permission for the role that creates the stream. In practice the delivery role needs it,
      // too: https://github.com/ministryofjustice/modernisation-platform-environments/pull/19058.
      writer.addToPolicy(
        new PolicyStatement({
          actions: ['kms:CreateGrant'],
          resources: [encryption.key.keyArn],
          conditions: { Bool: { 'kms:GrantIsForAWSResource': 'true' } },
        }),
      );
    }
    this.bucket.acknowledgeWildcard(writer, `${RECORDS_PREFIX}*`);

    // One metric for all streams: their shared log has nothing but failures.
    countLines(log, { Failures: { metric: 'ArchiveFailures', pattern: FAILED } });
    alarms.add(this, 'Archive/Failing', { metricsOf: countedMetrics(this), links: [logLink(log, FAILED)] });

    const queries = new ArchiveQueries(this, 'Queries', { days, bucket: this.bucket, encryption });
    this.#streams = Object.fromEntries(
      eventNames.map((event) => {
        const { logStreamName } = new LogStream(this, `${pascalCase(event)}Log`, {
          logGroup: log,
          removalPolicy,
        });
        const stream = new CfnDeliveryStream(this, pascalCase(event), {
          deliveryStreamType: 'DirectPut',
          deliveryStreamEncryptionConfigurationInput: encryption.key
            ? { keyType: 'CUSTOMER_MANAGED_CMK', keyArn: encryption.key.keyArn }
            : { keyType: 'AWS_OWNED_CMK' },
          extendedS3DestinationConfiguration: {
            bucketArn: this.bucket.bucketArn,
            roleArn: writer.roleArn,
            prefix: `${RECORDS_PREFIX}${event}/date=!{timestamp:yyyy-MM-dd}/hour=!{timestamp:HH}/`,
            errorOutputPrefix: `${RECORDS_PREFIX}${event}/failed=!{firehose:error-output-type}/`,
            fileExtension: '.jsonl.gz',
            compressionFormat: 'GZIP',
            cloudWatchLoggingOptions: { enabled: true, logGroupName: log.logGroupName, logStreamName },
            bufferingHints: { intervalInSeconds: ARCHIVE_BUFFER_SECONDS, sizeInMBs: BUFFER_MEGABYTES },
          },
        });
        // The permission to write must exist first, because a new stream tests it.
        stream.node.addDependency(writer);
        encryption.awaitGrants(stream);
        return [event, stream];
      }),
    ) as Record<EventName, CfnDeliveryStream>;
    const outputOf = (event: EventName) => [`${pascalCase(event)}ArchiveStream`, this.#streams[event].ref];
    this.outputs = {
      ArchiveBucket: this.bucket.bucketName,
      ...Object.fromEntries(eventNames.map(outputOf)),
      ...queries.outputs,
    };
  }

  /** Lets a consumer write to the stream of its event. */
  access(event: EventName): FunctionAccess {
    const stream = this.#streams[event];
    return {
      environment: { ARCHIVE_STREAM: stream.ref },
      permissions: [
        new PolicyStatement({ actions: ['firehose:PutRecordBatch'], resources: [stream.attrArn] }),
      ],
    };
  }

  streamMetrics(event: EventName): MetricSource {
    return metricsUnder('AWS/Firehose', { DeliveryStreamName: this.#streams[event].ref });
  }
}
