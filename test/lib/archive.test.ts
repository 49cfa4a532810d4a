import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { pascalCase } from '../../lambda/events/event-names.ts';
import { SynthesisedTemplate } from '../../tools/generate/synthesised-template.ts';
import { sharedAssembly } from '../support/shared-assembly.ts';
import { testAssembly } from '../support/test-stack.ts';
import { stageAssembly } from './stage-assembly.ts';

const dev = new SynthesisedTemplate(testAssembly());
let everySetting: SynthesisedTemplate;
beforeAll(async () => {
  everySetting = new SynthesisedTemplate(await stageAssembly('every-setting'));
});

const rulesOf = (template: SynthesisedTemplate, bucket: string) =>
  template.at('AWS::S3::Bucket', bucket).properties.LifecycleConfiguration.Rules;
const recordsOf = (template: SynthesisedTemplate) =>
  rulesOf(template, 'Archive/Bucket').find(({ Prefix }: { Prefix?: string }) => Prefix === 'event=');

/** Days that a message may be on its event's queue and then on the dead-letter queue. */
function daysOnQueues(template: SynthesisedTemplate): number {
  const seconds = ['ShopUpdated/Queue', 'ShopUpdated/DeadLetterQueue'].map(
    (path) => template.at('AWS::SQS::Queue', path).properties.MessageRetentionPeriod,
  );
  return seconds.reduce((sum, one) => sum + one, 0) / 86_400;
}

describe.each(eventNames)('the archive of %s', (event) => {
  const name = pascalCase(event);

  test('is written in lines of JSON, gzipped, by the hour', () => {
    const stream = dev.at('AWS::KinesisFirehose::DeliveryStream', `Archive/${name}`).properties;
    expect(stream).toMatchObject({
      DeliveryStreamType: 'DirectPut',
      DeliveryStreamEncryptionConfigurationInput: { KeyType: 'AWS_OWNED_CMK' },
      ExtendedS3DestinationConfiguration: {
        CompressionFormat: 'GZIP',
        FileExtension: '.jsonl.gz',
        Prefix: `event=${event}/date=!{timestamp:yyyy-MM-dd}/hour=!{timestamp:HH}/`,
        BufferingHints: { IntervalInSeconds: 900 },
      },
    });
  });

  test('is put into by its consumer, by nobody else, and read by the role of the delivery streams alone', () => {
    const asked = dev
      .ofType('AWS::IAM::Role')
      .flatMap((role) => dev.permissionsOf(role).map((permission) => ({ role: role.path, ...permission })));
    const puts = asked.filter(({ resource }) => resource === `Archive/${name}`);
    expect(puts).toEqual([
      expect.objectContaining({ role: `${name}/Consumer/Role`, action: 'firehose:PutRecordBatch' }),
    ]);
    const reads = asked.filter(
      ({ action, resource }) => /^s3:Get.*/.test(action) && resource.startsWith('Archive/'),
    );
    expect(reads.map(({ role, action, resource }) => [role, action, resource])).toEqual([
      ['Archive/Writer', 's3:GetBucketLocation', 'Archive/Bucket'],
      ['Archive/Writer', 's3:GetObject', 'Archive/Bucket/event=*'],
    ]);
  });
});

test('a record is kept for as many days as configured; the notes of forgettings and replays stay', () => {
  expect(recordsOf(dev).ExpirationInDays).toBe(30);
  expect(recordsOf(everySetting).ExpirationInDays).toBe(365);
  const prefixes = rulesOf(dev, 'Archive/Bucket').map(({ Prefix }: { Prefix: string }) => Prefix);
  expect(prefixes.sort()).toEqual(['event=', 'queries/']);
});

test('no payload goes before the last record that may refer to it', () => {
  for (const template of [dev, everySetting]) {
    const [{ ExpirationInDays: payload }] = rulesOf(template, 'Payloads');
    expect(payload).toBeGreaterThanOrEqual(recordsOf(template).ExpirationInDays + daysOnQueues(template));
  }
});

test('a record is collected for as long as configured', () => {
  const streams = everySetting.ofType('AWS::KinesisFirehose::DeliveryStream');
  const hints = streams.map(({ properties }) => properties.ExtendedS3DestinationConfiguration.BufferingHints);
  expect(hints.map(({ IntervalInSeconds }) => IntervalInSeconds)).toEqual(eventNames.map(() => 120));
});

test('a stage without an archive has nothing of it, and its consumers put nothing', async () => {
  const without = new SynthesisedTemplate(
    await sharedAssembly('no-archive', { stages: { dev: { archive: { days: 0 } } } }),
  );
  expect(without.resources.filter(({ path }) => path.startsWith('Archive/'))).toEqual([]);
  expect(Object.keys(without.outputs).filter((name) => name.includes('Archive'))).toEqual([]);
  const variables = without
    .ofType('AWS::Lambda::Function')
    .flatMap(({ properties }) => Object.keys(properties.Environment.Variables));
  expect(variables).not.toContain('ARCHIVE_STREAM');
  expect(JSON.stringify(without.resources)).not.toContain('firehose');
});
