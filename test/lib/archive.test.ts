import { describe, expect, test } from '@jest/globals';
import type { SynthesisedTemplate, TemplateResource } from 'local-aws/synthesised-template';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { only, stageTemplate, templateOf } from './stage-assembly.ts';

const prod = await stageTemplate('prod');
const everySetting = await stageTemplate('every-setting');
const encrypted = await stageTemplate('encrypted');

const rulesOf = (template: SynthesisedTemplate, bucket: string) =>
  template.at('AWS::S3::Bucket', bucket).properties.LifecycleConfiguration.Rules;
const recordsOf = (template: SynthesisedTemplate) =>
  rulesOf(template, 'Archive/Bucket').find(({ Prefix }: { Prefix?: string }) => Prefix === 'event=');
const destinationsOf = (template: SynthesisedTemplate) =>
  template
    .ofType('AWS::KinesisFirehose::DeliveryStream')
    .map(({ properties }) => properties.ExtendedS3DestinationConfiguration);

describe('the archive', () => {
  test('keeps records as long as configured; the notes of forget and replay stay', () => {
    const days = [recordsOf(prod), recordsOf(everySetting)].map((rule) => rule.ExpirationInDays);
    expect(days).toEqual([30, 365]);
    const prefixes = rulesOf(prod, 'Archive/Bucket').map(({ Prefix }: { Prefix: string }) => Prefix);
    expect(prefixes.sort()).toEqual(['event=', 'queries/']);
  });

  test.each([prod, everySetting])(
    'is not kept longer than a payload that a record refers to: %#',
    (template) => {
      const [{ ExpirationInDays: payload }] = rulesOf(template, 'Payloads');
      const secondsOnQueues = ['ShopUpdated/Queue', 'ShopUpdated/DeadLetterQueue']
        .map((path) => template.at('AWS::SQS::Queue', path).properties.MessageRetentionPeriod)
        .reduce((sum, seconds) => sum + seconds, 0);
      expect(payload).toBeGreaterThanOrEqual(recordsOf(template).ExpirationInDays + secondsOnQueues / 86_400);
    },
  );

  test('of zero days does not exist, and consumers write no records', async () => {
    const without = await templateOf('no-archive', { archive: { days: 0 } });
    expect(without.resources.filter(({ path }) => path.startsWith('Archive/'))).toEqual([]);
    expect(JSON.stringify([without.outputs, without.resources])).not.toMatch(
      /archive_stream|"archive|firehose/i,
    );
  });
});

test('the table has its partitions where the delivery streams write', () => {
  const { Parameters, PartitionKeys } = only(prod, 'AWS::Glue::Table').TableInput;
  expect(PartitionKeys.map(({ Name }: { Name: string }) => Name)).toEqual(['event', 'date', 'hour']);
  expect(Parameters['projection.event.values'].split(',')).toEqual(eventNames);
  // `HH` is the hour from 00 to 23.
  expect(Parameters).toMatchObject({ 'projection.hour.range': '0,23', 'projection.hour.digits': '2' });

  const [, bucket, location] = Parameters['storage.location.template']['Fn::Join'][1];
  const projected = eventNames.map((event) =>
    location
      .replace(/\$\{event\}/, event)
      .replace(/\$\{date\}/, `!{timestamp:${Parameters['projection.date.format']}}`)
      .replace(/\$\{hour\}/, '!{timestamp:HH}'),
  );
  const written = destinationsOf(prod).map(({ BucketARN, Prefix }) => {
    expect(BucketARN['Fn::GetAtt'][0]).toBe(bucket.Ref);
    return `/${Prefix}`;
  });
  expect(written.sort()).toEqual(projected.sort());
});

test('the workgroup ends a query that reads more than 10 GB, and keeps results for a day, encrypted, in the archive’s bucket', () => {
  const workgroupOf = (template: SynthesisedTemplate) =>
    only(template, 'AWS::Athena::WorkGroup').WorkGroupConfiguration;
  expect(workgroupOf(prod)).toMatchObject({
    EnforceWorkGroupConfiguration: true,
    BytesScannedCutoffPerQuery: 10 * 2 ** 30,
  });
  const { OutputLocation } = workgroupOf(prod).ResultConfiguration;
  const [, bucket, prefix] = OutputLocation['Fn::Join'][1];
  expect(bucket).toEqual(prod.outputs.ArchiveBucket?.Value);
  expect(workgroupOf(encrypted).ResultConfiguration.EncryptionConfiguration).toEqual({
    EncryptionOption: 'SSE_KMS',
    KmsKey: { 'Fn::GetAtt': [encrypted.at('AWS::KMS::Key', 'TopicKey').logicalId, 'Arn'] },
  });
  const rule = { Prefix: prefix.slice(1), ExpirationInDays: 1, Status: 'Enabled' };
  expect(rulesOf(prod, 'Archive/Bucket')).toContainEqual(rule);
});

test('this stack allows nobody to query, and only the delivery streams to reach the bucket', () => {
  const reaches = (role: TemplateResource) =>
    prod.permissionsOf(role).some(({ resource }) => resource.startsWith('Archive/Bucket'));
  const readers = prod.ofType('AWS::IAM::Role').filter(reaches);
  expect(readers.map(({ path }) => path)).toEqual(['Archive/Writer']);
  const policies = prod.ofType('AWS::IAM::Policy').concat(prod.ofType('AWS::IAM::Role'));
  expect(JSON.stringify(policies.map(({ properties }) => properties))).not.toMatch(/"(athena|glue):/);
});
