import { randomUUID } from 'node:crypto';
import { AwsError } from '../errors.ts';
import { isJsonObject, type JsonObject, objectsOf, textOf } from '../json.ts';
import { ACCOUNT_ID, arnOf, type NeededPermission, type Operations } from '../services.ts';
import { DeliveryStream, evaluatedPrefix, type WriteObject } from './delivery-stream.ts';

/** Bytes of a call before base64. Source: Firehose API reference, `PutRecordBatch`. */
const MAX_CALL_BYTES = 4 * 1024 * 1024;

/** Streams per answer. Source: Firehose API reference, `ListDeliveryStreams`. */
const DEFAULT_PAGE_SIZE = 10;

/** A valid name of a stream. Source: Firehose API reference, `CreateDeliveryStream`. */
const STREAM_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
const DEFAULT_BUFFERING_HINTS = { IntervalInSeconds: 300, SizeInMBs: 5 };

/** Version of every stream's configuration, which cannot be changed here. */
const ONLY_VERSION = '1';

/** Firehose: streams that accept records by PutRecord and PutRecordBatch, and deliver them to S3. */
export interface Firehose {
  readonly operations: Operations;
  /** Writes the remaining records of all streams. */
  close(): Promise<void>;
}

interface FirehoseOptions {
  isAllowed(accessKeyId: string, permission: NeededPermission): boolean;
  /** Writes an object with the permissions of a role. @throws Error if the role may not, or S3 rejects the object */
  writeObject(roleArn: string, ...object: Parameters<WriteObject>): Promise<void>;
  /** Called with each reason why records cannot be written to S3. */
  onProblem(message: string): void;
}

interface Stream {
  readonly name: string;
  readonly delivery: DeliveryStream;
  readonly description: JsonObject;
  /** ARN of the customer-managed key that encrypts the stream, if there is one. */
  readonly keyArn: string | undefined;
}

/**
 * Permissions to put records into a stream with a customer-managed key. Source: AWS's notice "Enhanced security
 * controls for Amazon Data Firehose", quoted in
 * https://github.com/ministryofjustice/modernisation-platform/issues/12960.
 */
const KEY_ACTIONS = ['kms:GenerateDataKey', 'kms:Decrypt'];

export function createFirehose({ isAllowed, writeObject, onProblem }: FirehoseOptions): Firehose {
  const streams = new Map<string, Stream>();

  function streamOf(parameters: JsonObject): Stream {
    const name = textOf(parameters, 'DeliveryStreamName') ?? '';
    const stream = streams.get(name);
    if (stream !== undefined) return stream;
    throw new AwsError(
      'ResourceNotFoundException',
      `Firehose ${name} under account ${ACCOUNT_ID} not found.`,
    );
  }

  /**
   * Finds the stream of a request that puts records.
   * @throws AwsError if the caller may not use the stream's key
   */
  function deliveryOf(parameters: JsonObject, accessKeyId: string): DeliveryStream {
    const { name, delivery, keyArn } = streamOf(parameters);
    if (keyArn === undefined) return delivery;
    if (KEY_ACTIONS.every((action) => isAllowed(accessKeyId, { action, resource: keyArn }))) return delivery;
    throw new AwsError(
      'InvalidKMSResourceException',
      `The grant for the CMK ${keyArn} to the Firehose ${name} might have been revoked or caller might not have sufficient permissions for the CMK.`,
    );
  }

  const operations: Operations = {
    CreateDeliveryStream(parameters) {
      const name = textOf(parameters, 'DeliveryStreamName') ?? '';
      if (!STREAM_NAME.test(name)) {
        throw invalid(`DeliveryStreamName must match ${STREAM_NAME.source}, not ${name}.`);
      }
      if (streams.has(name)) {
        throw new AwsError(
          'ResourceInUseException',
          `Firehose ${name} under accountId ${ACCOUNT_ID} already exists`,
        );
      }
      const arn = arnOf('firehose', `deliverystream/${name}`);
      const configuration = s3ConfigurationOf(parameters);
      const roleArn = textOf(configuration, 'RoleARN') ?? '';
      const delivery = new DeliveryStream({
        name,
        version: ONLY_VERSION,
        destination: {
          bucket: (textOf(configuration, 'BucketARN') ?? '').replace(/^arn:[^:]*:s3:::/, ''),
          prefix: textOf(configuration, 'Prefix') ?? '',
          fileExtension: textOf(configuration, 'FileExtension') ?? '',
          isCompressed: configuration.CompressionFormat === 'GZIP',
        },
        write: (...object) => writeObject(roleArn, ...object),
        onProblem: (message) => onProblem(`Delivery stream ${message}`),
      });
      const encryption = parameters.DeliveryStreamEncryptionConfigurationInput;
      streams.set(name, {
        name,
        delivery,
        description: describe(name, arn, configuration),
        keyArn: isJsonObject(encryption) ? textOf(encryption, 'KeyARN') : undefined,
      });
      return { DeliveryStreamARN: arn };
    },

    DescribeDeliveryStream: (parameters) => ({
      DeliveryStreamDescription: streamOf(parameters).description,
    }),

    ListDeliveryStreams(parameters) {
      const after = textOf(parameters, 'ExclusiveStartDeliveryStreamName') ?? '';
      const names = [...streams.keys()].sort().filter((name) => name > after);
      const page = names.slice(0, Number(parameters.Limit ?? DEFAULT_PAGE_SIZE));
      return { DeliveryStreamNames: page, HasMoreDeliveryStreams: page.length < names.length };
    },

    PutRecord(parameters, accessKeyId) {
      const delivery = deliveryOf(parameters, accessKeyId);
      const { Record: record } = parameters;
      delivery.add([dataOf(isJsonObject(record) ? record : {})]);
      return { RecordId: randomUUID(), Encrypted: false };
    },

    PutRecordBatch(parameters, accessKeyId) {
      const delivery = deliveryOf(parameters, accessKeyId);
      const records = recordsOf(parameters);
      delivery.add(records);
      return {
        FailedPutCount: 0,
        Encrypted: false,
        RequestResponses: records.map(() => ({ RecordId: randomUUID() })),
      };
    },
  };

  return {
    operations,
    async close() {
      await Promise.all([...streams.values()].map(({ delivery }) => delivery.close()));
    },
  };
}

/** @throws AwsError if the stream's source is not PutRecord, or its destination is not supported here */
function s3ConfigurationOf(parameters: JsonObject): JsonObject {
  const type = parameters.DeliveryStreamType ?? 'DirectPut';
  const configuration = parameters.ExtendedS3DestinationConfiguration;
  if (type !== 'DirectPut' || !isJsonObject(configuration)) {
    throw invalid('The local AWS endpoint only offers DirectPut with ExtendedS3DestinationConfiguration.');
  }
  const format = configuration.CompressionFormat ?? 'UNCOMPRESSED';
  if (format !== 'GZIP' && format !== 'UNCOMPRESSED') {
    throw invalid('The local AWS endpoint only writes GZIP and UNCOMPRESSED.');
  }
  try {
    evaluatedPrefix(textOf(configuration, 'Prefix') ?? '', new Date());
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : String(error));
  }
  return configuration;
}

function describe(name: string, arn: string, configuration: JsonObject): JsonObject {
  const destination = {
    BufferingHints: DEFAULT_BUFFERING_HINTS,
    CompressionFormat: 'UNCOMPRESSED',
    EncryptionConfiguration: { NoEncryptionConfig: 'NoEncryption' },
    ...configuration,
  };
  return {
    DeliveryStreamName: name,
    DeliveryStreamARN: arn,
    DeliveryStreamStatus: 'ACTIVE',
    DeliveryStreamType: 'DirectPut',
    VersionId: ONLY_VERSION,
    CreateTimestamp: Date.now() / 1000,
    Destinations: [
      { DestinationId: 'destinationId-000000000001', ExtendedS3DestinationDescription: destination },
    ],
    HasMoreDestinations: false,
  };
}

/** The records of a PutRecordBatch. @throws AwsError if they are too large together */
function recordsOf(parameters: JsonObject): Buffer[] {
  const records = objectsOf(parameters, 'Records').map(dataOf);
  const bytes = records.reduce((sum, { length }) => sum + length, 0);
  if (bytes > MAX_CALL_BYTES) throw invalid('Records size exceeds 4 MB limit');
  return records;
}

const dataOf = (record: JsonObject) => Buffer.from(textOf(record, 'Data') ?? '', 'base64');

function invalid(message: string): AwsError {
  return new AwsError('InvalidArgumentException', message);
}
