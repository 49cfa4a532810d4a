import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { type ArchiveQuery, archiveQueries, archiveQuery } from '../../lib/archive/archive-queries.ts';
import { SynthesisedTemplate } from '../../tools/generate/synthesised-template.ts';
import { testAssembly } from '../support/test-stack.ts';
import { stageAssembly } from './stage-assembly.ts';

const questions = Object.keys(archiveQueries) as ArchiveQuery[];

/** Saves no queries. */
const dev = new SynthesisedTemplate(testAssembly());
let prod: SynthesisedTemplate;
let everySetting: SynthesisedTemplate;
let encrypted: SynthesisedTemplate;

beforeAll(async () => {
  prod = new SynthesisedTemplate(await stageAssembly('prod'));
  everySetting = new SynthesisedTemplate(await stageAssembly('every-setting'));
  encrypted = new SynthesisedTemplate(await stageAssembly('encrypted'));
});

const only = (template: SynthesisedTemplate, type: string) => {
  const [resource, another] = template.ofType(type);
  if (resource === undefined || another !== undefined) throw new Error(`Not one ${type}`);
  return resource.properties;
};
const tableOf = (template: SynthesisedTemplate) => only(template, 'AWS::Glue::Table').TableInput;
const workgroupOf = (template: SynthesisedTemplate) =>
  only(template, 'AWS::Athena::WorkGroup').WorkGroupConfiguration;

describe('the table', () => {
  test('has its partitions where the delivery streams write', () => {
    const { Parameters, PartitionKeys } = tableOf(prod);
    expect(PartitionKeys.map(({ Name }: { Name: string }) => Name)).toEqual(['event', 'date', 'hour']);
    expect(Parameters['projection.event.values'].split(',')).toEqual(eventNames);

    const [bucket, template] = Parameters['storage.location.template']['Fn::Join'][1].slice(1);
    const streams = prod.ofType('AWS::KinesisFirehose::DeliveryStream');
    expect(streams).toHaveLength(eventNames.length);
    const written = streams.map(({ properties }) => {
      const { BucketARN, Prefix } = properties.ExtendedS3DestinationConfiguration;
      expect(BucketARN['Fn::GetAtt'][0]).toBe(bucket.Ref);
      return `/${Prefix}`;
    });
    const projected = eventNames.map((event) =>
      template
        .replace(`\${event}`, event)
        .replace(`\${date}`, `!{timestamp:${Parameters['projection.date.format']}}`)
        .replace(`\${hour}`, '!{timestamp:HH}'),
    );
    expect(written.sort()).toEqual(projected.sort());
    // `HH` is the hour from 00 to 23.
    expect(Parameters).toMatchObject({
      'projection.hour.range': '0,23',
      'projection.hour.digits': '2',
    });
  });

  test('has a day more than records are kept, as S3 rounds their end up to midnight', () => {
    const days = (template: SynthesisedTemplate) => tableOf(template).Parameters['projection.date.range'];
    expect([days(prod), days(everySetting)]).toEqual(['NOW-31DAYS,NOW', 'NOW-366DAYS,NOW']);
  });

  test('reads each column from a field of the records', () => {
    const { Columns, SerdeInfo } = tableOf(prod).StorageDescriptor;
    const fields = Columns.map(({ Name }: { Name: string }) => [
      Name,
      SerdeInfo.Parameters[`mapping.${Name}`] ?? Name,
    ]);
    expect(Object.fromEntries(fields)).toMatchInlineSnapshot(`
{
  "attempt": "attempt",
  "body": "body",
  "event_id": "eventId",
  "failure_reason": "failureReason",
  "forgotten_at": "forgottenAt",
  "outcome": "outcome",
  "payload_key": "payloadKey",
  "received_at": "receivedAt",
  "replay": "replay",
  "request_id": "requestId",
  "sent_at": "timestamp",
  "settled_at": "settledAt",
  "shop_id": "shopId",
}
`);
    // Glue knows no capitals.
    for (const [name] of fields) expect(name).toMatch(/^[a-z_]+$/);
  });

  test('has a database of the stage’s own, which needs no quotation marks', () => {
    const names = [dev, prod].map((template) => template.outputs.ArchiveDatabase?.Value);
    expect(names).toEqual(['partnerwebhooks_dev', 'partnerwebhooks_prod']);
    expect(only(prod, 'AWS::Glue::Table').DatabaseName).toBe('partnerwebhooks_prod');
    expect(only(prod, 'AWS::Glue::Database').DatabaseInput.Name).toBe('partnerwebhooks_prod');
  });
});

describe('the workgroup', () => {
  test('ends a query that reads more than configured, and lets nobody set anything else', () => {
    for (const [template, gigabytes] of [
      [prod, 10],
      [everySetting, 25],
    ] as const) {
      expect(workgroupOf(template)).toMatchObject({
        EnforceWorkGroupConfiguration: true,
        BytesScannedCutoffPerQuery: gigabytes * 2 ** 30,
      });
    }
    expect(prod.outputs.ArchiveWorkgroup?.Value).toBe(only(prod, 'AWS::Athena::WorkGroup').Name);
  });

  test('keeps results for a day, encrypted, in the archive’s bucket', () => {
    const { OutputLocation, EncryptionConfiguration } = workgroupOf(prod).ResultConfiguration;
    const [, bucket, prefix] = OutputLocation['Fn::Join'][1];
    expect(bucket).toEqual(prod.outputs.ArchiveBucket?.Value);
    expect(EncryptionConfiguration).toEqual({ EncryptionOption: 'SSE_S3' });
    expect(workgroupOf(encrypted).ResultConfiguration.EncryptionConfiguration).toEqual({
      EncryptionOption: 'SSE_KMS',
      KmsKey: { 'Fn::GetAtt': [encrypted.at('AWS::KMS::Key', 'TopicKey').logicalId, 'Arn'] },
    });
    const { properties } = prod.at('AWS::S3::Bucket', 'Archive/Bucket');
    expect(properties.LifecycleConfiguration.Rules).toContainEqual({
      Prefix: prefix.slice(1),
      ExpirationInDays: 1,
      Status: 'Enabled',
    });
  });
});

test('nobody may query by this stack: no policy of it names Athena or Glue', () => {
  const policies = prod.ofType('AWS::IAM::Policy').concat(prod.ofType('AWS::IAM::Role'));
  expect(policies.length).toBeGreaterThan(0);
  expect(JSON.stringify(policies.map(({ properties }) => properties))).not.toMatch(/"(athena|glue):/);
});

describe('the saved queries', () => {
  test('are the files of their folder', () => {
    const files = readdirSync('lib/archive/archive-queries').map((file) => basename(file, '.sql'));
    expect(files.sort()).toEqual([...questions].sort());
  });

  test('are in the workgroup, for the database, each with its question', () => {
    const saved = prod.ofType('AWS::Athena::NamedQuery').map(({ properties }) => properties);
    expect(saved).toHaveLength(questions.length);
    for (const name of questions) {
      expect(saved).toContainEqual({
        Name: name,
        Description: archiveQueries[name],
        WorkGroup: 'PartnerWebhooks-prod',
        Database: 'partnerwebhooks_prod',
        QueryString: archiveQuery(name),
      });
    }
  });

  test('are none where the stage saves none', () => {
    expect(dev.has('AWS::Athena::NamedQuery')).toBe(false);
    expect(dev.has('AWS::Athena::WorkGroup')).toBe(true);
  });

  test.each(questions)('%s reads the records once, as far back as it says', (name) => {
    const sql = archiveQuery(name);
    const code = sql.replace(/--.*/g, '');
    const reads = Array.from(code.matchAll(/FROM (\w+)/g), ([, table]) => table);
    expect(reads.filter((table) => table === 'records')).toHaveLength(1);
    const [, days] =
      /"date" >= date_format\(current_date - INTERVAL '(\d+)' DAY, '%Y-%m-%d'\)/.exec(code) ?? [];
    const said = { 7: 'last week', 30: 'last 30 days' }[Number(days)];
    expect(sql).toContain(said);
  });
});
