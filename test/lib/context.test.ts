import { describe, expect, test } from '@jest/globals';
import { readContext } from '../../lib/context.ts';

const stages = {
  dev: {},
  prod: {
    gateway: 'rest',
    encryption: {},
    alarmEmails: ['night@example.com', 'day@example.com'],
    events: { 'shop.updated': { batchSize: 5 } },
  },
};
/** A context as the CDK reads it from `cdk.json` and `-c`. */
const read = (context: object) => readContext({ stages, stage: 'prod', ...context });

describe('the context `settings`', () => {
  test.each<[settings: object, changed: object]>([
    [{ logRetentionDays: 90 }, { logRetentionDays: 90 }],
    [
      { events: { 'shop.updated': { timeout: 60 } } },
      { events: { 'shop.updated': { batchSize: 5, timeout: 60 } } },
    ],
    [{ alarmEmails: ['new@example.com'] }, { alarmEmails: ['new@example.com'] }],
    [{ events: null }, { events: undefined }],
    [{}, {}],
  ])('is merged over the stage: %j', (settings, changed) => {
    expect(read({ settings: JSON.stringify(settings) }).given).toEqual({ ...stages.prod, ...changed });
    expect(read({ settings }).given).toEqual({ ...stages.prod, ...changed });
  });

  test('that is broken is refused with the place', () => {
    expect(() => read({ settings: '{"a":1,}' })).toThrow(
      /^The context `settings` is not JSON: .*position 7.* Put it in single quotes: -c settings='\{"logRetentionDays":90\}'$/,
    );
    for (const settings of ['[]', '7', '"prod"']) {
      expect(() => read({ settings })).toThrow('The context `settings` must be a JSON object, such as -c');
    }
  });
});

test('`stages` on the command line is refused, because it would drop the settings of cdk.json', () => {
  expect(() => read({ stages: '{"prod":{"logRetentionDays":90}}' })).toThrow(
    /^-c stages=… would replace the stages of cdk.json .* use -c settings=/,
  );
});

describe('the stage', () => {
  test.each(['a_b', 'x'.repeat(65)])('%s, whose name cannot end a stack’s, is refused', (stage) => {
    expect(() => read({ stages: { [stage]: {} }, stage })).toThrow(
      `The stage name '${stage}' is invalid. Use up to 64 letters, digits and hyphens`,
    );
  });

  test.each(['nope', 'constructor', undefined])('%s is refused, naming the stages that exist', (stage) => {
    expect(() => read({ stage })).toThrow(`No stage '${stage}'. Use -c stage=NAME with one of: dev, prod`);
  });

  test('is not looked for in anything but an object', () => {
    expect(() => read({ stages: [] })).toThrow('The context `stages` must be a JSON object');
  });
});

describe('any other key', () => {
  test('that looks misspelled is refused: another stage would be deployed', () => {
    expect(() => read({ stagee: 'prod' })).toThrow("Unknown context 'stagee'. Did you mean stage?");
  });

  test.each([
    ['gateway', 'rest', '{"gateway":"rest"}'],
    ['logRetentionDays', '90', '{"logRetentionDays":90}'],
    ['account', '111122223333', '{"account":"111122223333"}'],
    ['archive.days', '3', '{"archive":{…}}'],
  ])('that is a setting is refused, with the place to set it: %s', (key, value, example) => {
    expect(() => read({ [key]: value })).toThrow(
      `The context '${key}' is not read: ${key.split('.')[0]} is a setting of a stage. Set it in cdk.json, below the stage. For one command, use -c settings='${example}'`,
    );
  });

  test.each([
    '@aws-cdk/core:stageNames',
    'aws:cdk:enable-path-metadata',
    'cdk-migrate',
    'availability-zones:account=111122223333:region=eu-central-1',
    'nag',
  ])('that the CDK or the app reads is taken: %s', (key) => {
    expect(read({ [key]: 'x' }).unread).toEqual([]);
  });

  test('is reported as unread', () => {
    expect(read({ environment: 'x' }).unread).toEqual(['environment']);
  });
});
