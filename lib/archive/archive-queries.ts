import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema';
import { Duration, Stack } from 'aws-cdk-lib';
import { CfnWorkGroup } from 'aws-cdk-lib/aws-athena';
import { CfnDatabase, CfnTable } from 'aws-cdk-lib/aws-glue';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { RECORDS_PREFIX, recordSchema } from '../../lambda/archive/record-schema.ts';
import { eventNames } from '../../lambda/events/catalogue.ts';
import type { Encryption } from '../encryption.ts';

interface ArchiveQueriesProps {
  readonly bucket: Bucket;
  /** Days that records are kept. */
  readonly days: number;
  readonly encryption: Encryption;
}

/** Prefix of the results, which expire after a day. */
const RESULTS_PREFIX = 'queries/';
const RESULT_RETENTION = Duration.days(1);

/** Bytes of compressed records at which Athena stops a query: it costs 5 cents. */
const QUERY_LIMIT_BYTES = 10 * 2 ** 30;

/** Reserved words of Athena, and the column names used instead. */
const RESERVED: Readonly<Record<string, string>> = { timestamp: 'sent_at' };

const COLUMN_TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'int',
  boolean: 'boolean',
};

/**
 * A record's fields as columns. Glue's names have no capitals. Times stay text: ISO 8601 of equal width sorts
 * correctly. `event` is a partition.
 */
const COLUMNS = Object.entries(toJsonSchema(recordSchema, { ignoreActions: ['check'] }).properties ?? {})
  .filter(([field]) => field !== 'event')
  .map(([field, schema]) => ({
    field,
    name: RESERVED[field] ?? field.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
    type: columnType(schema),
  }));

/** @throws Error if no column type is known for a field's type */
function columnType(field: JsonSchema | boolean): string {
  const { type, properties } = typeof field === 'boolean' ? {} : field;
  if (properties !== undefined) {
    const columns = Object.entries(properties).map(([name, inner]) => `${name}:${columnType(inner)}`);
    return `struct<${columns.join(',')}>`;
  }
  const known = COLUMN_TYPES[String(type)];
  if (known === undefined) throw new Error(`No column type for a field of type ${type}`);
  return known;
}

/**
 * SQL over the archive: a table whose partitions Athena computes without a crawler, and a workgroup that sets where
 * results go and how much a query may read. Both cost nothing without queries.
 */
export class ArchiveQueries extends Construct {
  readonly outputs: Readonly<Record<'ArchiveDatabase' | 'ArchiveWorkgroup', string>>;

  constructor(scope: Construct, id: string, props: ArchiveQueriesProps) {
    super(scope, id);
    const { bucket, days, encryption } = props;
    const { stackName, account } = Stack.of(this);
    // Hyphens would need quotes in every query, and Glue's names have no capitals.
    const databaseName = stackName.toLowerCase().replaceAll('-', '_');
    const workgroupName = stackName;
    this.outputs = { ArchiveDatabase: databaseName, ArchiveWorkgroup: workgroupName };

    const database = new CfnDatabase(this, 'Database', {
      catalogId: account,
      databaseInput: { name: databaseName, description: `The archive of ${stackName}.` },
    });
    const table = new CfnTable(this, 'Records', {
      catalogId: account,
      databaseName,
      tableInput: {
        name: 'records',
        description: 'The outcome of each message. A message that was received twice has two rows.',
        tableType: 'EXTERNAL_TABLE',
        partitionKeys: ['event', 'date', 'hour'].map((name) => ({ name, type: 'string' })),
        parameters: {
          EXTERNAL: 'TRUE',
          classification: 'json',
          ...projection(`s3://${bucket.bucketName}/${RECORDS_PREFIX}`, days),
        },
        storageDescriptor: {
          location: `s3://${bucket.bucketName}/`,
          columns: COLUMNS.map(({ name, type }) => ({ name, type })),
          inputFormat: 'org.apache.hadoop.mapred.TextInputFormat',
          outputFormat: 'org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat',
          serdeInfo: {
            serializationLibrary: 'org.openx.data.jsonserde.JsonSerDe',
            parameters: SERIALISATION,
          },
        },
      },
    });
    table.addResourceDependency(database);

    new CfnWorkGroup(this, 'Workgroup', {
      name: workgroupName,
      description: `Queries of the archive of ${stackName}.`,
      // Queries that people saved would otherwise prevent the deletion of the workgroup, and so of the stack.
      recursiveDeleteOption: true,
      workGroupConfiguration: {
        enforceWorkGroupConfiguration: true,
        engineVersion: { selectedEngineVersion: 'Athena engine version 3' },
        bytesScannedCutoffPerQuery: QUERY_LIMIT_BYTES,
        publishCloudWatchMetricsEnabled: false,
        resultConfiguration: {
          outputLocation: `s3://${bucket.bucketName}/${RESULTS_PREFIX}`,
          expectedBucketOwner: account,
          encryptionConfiguration: encryption.key
            ? { encryptionOption: 'SSE_KMS', kmsKey: encryption.key.keyArn }
            : { encryptionOption: 'SSE_S3' },
        },
      },
    });
    bucket.addLifecycleRule({ prefix: RESULTS_PREFIX, expiration: RESULT_RETENTION });
  }
}

/**
 * Converts a line of an archive object to a row. A damaged line becomes a row of nulls and does not stop the query.
 * Source: Athena user guide, "OpenX JSON SerDe".
 */
const SERIALISATION = {
  'ignore.malformed.json': 'true',
  'case.insensitive': 'false',
  ...Object.fromEntries(
    COLUMNS.filter(({ field, name }) => field !== name).map(({ field, name }) => [`mapping.${name}`, field]),
  ),
};

/**
 * Partition projection: Athena computes a partition for each hour of the days that S3 keeps. S3 rounds a record's
 * expiry up to midnight. Source: Athena user guide, "Set up partition projection".
 */
function projection(records: string, days: number): Record<string, string> {
  return {
    'projection.enabled': 'true',
    'projection.event.type': 'enum',
    'projection.event.values': eventNames.join(','),
    'projection.date.type': 'date',
    'projection.date.format': 'yyyy-MM-dd',
    'projection.date.range': `NOW-${days + 1}DAYS,NOW`,
    'projection.date.interval': '1',
    'projection.date.interval.unit': 'DAYS',
    'projection.hour.type': 'integer',
    'projection.hour.range': '0,23',
    'projection.hour.digits': '2',
    'storage.location.template': `${records}\${event}/date=\${date}/hour=\${hour}/`,
  };
}
