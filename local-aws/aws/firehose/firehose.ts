import { randomUUID } from 'node:crypto';
import type { createAuthorization } from '../authorization.ts';
import { AwsError } from '../errors.ts';
import { isJsonObject, type JsonObject, objectsOf, textOf } from '../json.ts';
import type { createS3 } from '../s3.ts';
import { ACCOUNT_ID, arnOf, type Operations } from '../service-forms.ts';
import { createDeliveryStream, type DeliveryStream, evaluatedPrefix } from './delivery-stream.ts';

/** Bytes of a call before base64. Source: Firehose API reference, `PutRecordBatch`. */
const MAX_CALL_BYTES = 4 * 1024 * 1024;

interface Stream {
  readonly delivery: DeliveryStream;
  /** ARN of the customer-managed key that encrypts the stream, if there is one. */
  readonly keyArn: string | undefined;
}

/**
 * Permissions to put records into a stream with a customer-managed key. Source: AWS's notice "Enhanced security
 * controls for Amazon Data Firehose", quoted in
 * https://github.com/ministryofjustice/modernisation-platform/issues/12960.
 */
const KEY_ACTIONS = ['kms:GenerateDataKey', 'kms:Decrypt'];

/** Firehose: streams that accept records by PutRecordBatch, and deliver them to S3. */
export function createFirehose(
  authorization: ReturnType<typeof createAuthorization>,
  s3: ReturnType<typeof createS3>,
  onProblem: (message: string) => void,
) {
  const streams = new Map<string, Stream>();

  /**
   * Finds the stream of a request that puts records.
   * @throws AwsError if the stream does not exist, or the caller may not use its key
   */
  function deliveryOf(parameters: JsonObject, accessKeyId: string): DeliveryStream {
    const name = textOf(parameters, 'DeliveryStreamName') ?? '';
    const stream = streams.get(name);
    if (stream === undefined) {
      const message = `Firehose ${name} under account ${ACCOUNT_ID} not found.`;
      throw new AwsError('ResourceNotFoundException', message);
    }
    const { delivery, keyArn: resource } = stream;
    if (resource === undefined) return delivery;
    if (KEY_ACTIONS.every((action) => authorization.isAllowed(accessKeyId, { action, resource })))
      return delivery;
    throw new AwsError(
      'InvalidKMSResourceException',
      `The grant for the CMK ${resource} to the Firehose ${name} might have been revoked or caller might not have sufficient permissions for the CMK.`,
    );
  }

  const operations: Operations = {
    CreateDeliveryStream(parameters) {
      const name = textOf(parameters, 'DeliveryStreamName') ?? '';
      const configuration = s3ConfigurationOf(parameters);
      const roleArn = textOf(configuration, 'RoleARN') ?? '';
      const delivery = createDeliveryStream({
        name,
        bucket: (textOf(configuration, 'BucketARN') ?? '').replace(/^arn:[^:]*:s3:::/, ''),
        prefix: textOf(configuration, 'Prefix') ?? '',
        fileExtension: textOf(configuration, 'FileExtension') ?? '',
        async write(bucket, key, body) {
          const permission = { action: 's3:PutObject', resource: `arn:aws:s3:::${bucket}/${key}` };
          authorization.authorizeRole(roleArn, 's3', permission);
          await s3.putGzip(bucket, key, body);
        },
        onProblem: (message) => onProblem(`Delivery stream ${message}`),
      });
      const encryption = parameters.DeliveryStreamEncryptionConfigurationInput;
      const keyArn = isJsonObject(encryption) ? textOf(encryption, 'KeyARN') : undefined;
      streams.set(name, { delivery, keyArn });
      return { DeliveryStreamARN: arnOf('firehose', `deliverystream/${name}`) };
    },

    PutRecordBatch(parameters, accessKeyId) {
      const delivery = deliveryOf(parameters, accessKeyId);
      const records = objectsOf(parameters, 'Records').map((record) =>
        Buffer.from(textOf(record, 'Data') ?? '', 'base64'),
      );
      const bytes = records.reduce((sum, { length }) => sum + length, 0);
      if (bytes > MAX_CALL_BYTES) throw invalid('Records size exceeds 4 MB limit');
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
  if (configuration.CompressionFormat !== 'GZIP') throw invalid('The local AWS endpoint only writes GZIP.');
  evaluatedPrefix(textOf(configuration, 'Prefix') ?? '', new Date());
  return configuration;
}

const invalid = (message: string) => new AwsError('InvalidArgumentException', message);
