import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase, pascalCase } from '../../lambda/events/event-names.ts';
import { stages } from '../../tools/generate/stages.ts';
import { type Resource, SynthesisedTemplate } from '../../tools/generate/synthesised-template.ts';
import { testAssembly } from '../support/test-stack.ts';
import { stageAssembly } from './stage-assembly.ts';

const stateful = [
  'AWS::DynamoDB::Table',
  'AWS::SQS::Queue',
  'AWS::SecretsManager::Secret',
  'AWS::S3::Bucket',
  'AWS::KMS::Key',
  'AWS::Logs::LogGroup',
];

const except = (resources: readonly Resource[], meets: (resource: Resource) => boolean) =>
  resources.filter((resource) => !meets(resource)).map(({ path }) => path);

describe('the prod stage', () => {
  let prod: SynthesisedTemplate;

  beforeAll(async () => {
    prod = new SynthesisedTemplate(await stageAssembly('prod'));
  });

  test.each(stateful)('retains every %s when its stack is deleted', (type) => {
    // Of a deployment that fails, what it has created goes; a protected table cannot.
    const policy = type === 'AWS::DynamoDB::Table' ? 'Retain' : 'RetainExceptOnCreate';
    expect(except(prod.ofType(type), ({ deletionPolicy }) => deletionPolicy === policy)).toEqual([]);
  });

  test('refuses to delete a table', () => {
    const refuses = ({ properties }: Resource) => properties.DeletionProtectionEnabled === true;
    expect(except(prod.ofType('AWS::DynamoDB::Table'), refuses)).toEqual([]);
  });

  test('refuses to delete its stack', () => {
    expect(prod.terminationProtection).toBe(true);
  });

  test('keeps the versions that a deployment replaces, and none of a deployment that fails', () => {
    // One that stayed would keep its code from being deployed again: a version is published once.
    const versions = prod.ofType('AWS::Lambda::Version');
    expect(except(versions, ({ deletionPolicy }) => deletionPolicy === 'RetainExceptOnCreate')).toEqual([]);
  });

  test('differs from the dev stage in what goes with canaries and saved queries only', () => {
    const paths = (template: SynthesisedTemplate) => template.resources.map(({ path }) => path);
    const dev = paths(new SynthesisedTemplate(testAssembly()));
    expect(dev.filter((path) => !paths(prod).includes(path))).toEqual([]);
    const more = paths(prod).filter((path) => !dev.includes(path));
    const savedQueries = /^(SavedQueries\/|Archive\/Queries\/)/;
    expect(more.filter((path) => !savedQueries.test(path) && !path.startsWith('Canaries/'))).toEqual([]);
  });

  test('shifts a tenth of the traffic of every function for five minutes', () => {
    const groups = prod.ofType('AWS::CodeDeploy::DeploymentGroup');
    expect(groups).toHaveLength(prod.ofType('AWS::Lambda::Alias').length);
    const steps = groups.map(({ properties }) => properties.DeploymentConfigName);
    expect(new Set(steps)).toEqual(new Set(['CodeDeployDefault.LambdaCanary10Percent5Minutes']));
  });

  test('moves every alias by its deployment group, none at once', () => {
    const groups = prod.ofType('AWS::Lambda::Alias').map(({ updatePolicy }) => {
      const { ApplicationName, DeploymentGroupName } = updatePolicy?.CodeDeployLambdaAliasUpdate ?? {};
      return [prod.referred(ApplicationName), prod.referred(DeploymentGroupName)];
    });
    expect(new Set(groups.map(([application]) => application))).toEqual(new Set(['Canaries/Application']));
    expect(new Set(groups.map(([, group]) => group)).size).toBe(groups.length);
  });

  test('takes a function back on what fails of the new versions: its own, and the receiver’s', () => {
    for (const { path, properties } of prod.ofType('AWS::CodeDeploy::DeploymentGroup')) {
      const { Alarms, Enabled } = properties.AlarmConfiguration;
      expect(Enabled).toBe(true);
      const service = path.replace('Canaries/', '');
      expect(Alarms.map(({ Name }: { Name: unknown }) => prod.referred(Name)).sort()).toEqual(
        [
          'Canaries/ReceiverAnswers500',
          'Canaries/ReceiverDies',
          ...(service === 'receiver' ? [] : [`Canaries/${service}-dies`, `Canaries/${service}-fails`]),
        ].sort(),
      );
      expect(properties.AutoRollbackConfiguration).toEqual({
        Enabled: true,
        Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM', 'DEPLOYMENT_FAILURE']),
      });
    }
  });

  test('has another alarm for each version, which cannot begin in the state of the one before', () => {
    const named = prod
      .ofType('AWS::CloudWatch::Alarm')
      .filter(({ path }) => path.startsWith('Canaries/'))
      .map(({ path, properties }) => {
        const versionOf = properties.Dimensions.find(({ Name }: { Name: string }) =>
          ['ExecutedVersion', 'version'].includes(Name),
        );
        const own = path.replace('Canaries/', 'PartnerWebhooks-prod-');
        return [properties.AlarmName, { 'Fn::Join': ['', [`${own}-`, versionOf.Value]] }];
      });
    expect(named.length).toBeGreaterThan(eventNames.length);
    for (const [alarm, expected] of named) expect(alarm).toEqual(expected);
  });

  test('mails nobody of what takes a function back: its metric goes on when the deployment is over', () => {
    const { true: told = [], false: untold = [] } = Object.groupBy(
      prod.ofType('AWS::CloudWatch::Alarm'),
      ({ properties }) => String(properties.AlarmActions !== undefined || properties.OKActions !== undefined),
    );
    const place = ({ path }: Resource) => path.split('/')[0];
    expect(new Set(untold.map(place))).toEqual(new Set(['Canaries']));
    expect(told.filter((alarm) => place(alarm) === 'Canaries')).toEqual([]);
  });

  test('looks at the new version alone: one that fails already does not keep its repair out', () => {
    const alarms = prod
      .ofType('AWS::CloudWatch::Alarm')
      .filter(({ path }) => path.startsWith('Canaries/'))
      .map(({ path, properties }) => {
        const version = properties.Dimensions.find(({ Name }: { Name: string }) =>
          ['ExecutedVersion', 'version'].includes(Name),
        );
        return [path, properties.MetricName, prod.referred(version.Value)];
      });
    const currentVersion = (path: string) => `${path}/Function/CurrentVersion`;
    expect(alarms.sort()).toEqual(
      [
        ['Canaries/ReceiverAnswers500', 'VersionError', currentVersion('Receiver')],
        ['Canaries/ReceiverDies', 'Errors', currentVersion('Receiver')],
        ...eventNames.flatMap((event) => {
          const version = currentVersion(`${pascalCase(event)}/Consumer`);
          return [
            [`Canaries/${kebabCase(event)}-dies`, 'Errors', version],
            [`Canaries/${kebabCase(event)}-fails`, 'VersionError', version],
          ];
        }),
      ].sort(),
    );
  });
});

describe('the dev stage', () => {
  const dev = new SynthesisedTemplate(testAssembly());

  test.each(stateful)('leaves no %s behind', (type) => {
    expect(except(dev.ofType(type), ({ deletionPolicy }) => deletionPolicy === 'Delete')).toEqual([]);
  });

  test('lets its stack and its tables be deleted', () => {
    expect(dev.terminationProtection).toBe(false);
    const lets = ({ properties }: Resource) => properties.DeletionProtectionEnabled === false;
    expect(except(dev.ofType('AWS::DynamoDB::Table'), lets)).toEqual([]);
  });
});

describe('every stage', () => {
  test('tries all new versions before an alias moves to one', () => {
    const dev = new SynthesisedTemplate(testAssembly());
    const [smokeTest] = dev.ofType('Custom::SmokeTest');
    const tried = [smokeTest?.properties.Receiver, ...(smokeTest?.properties.Consumers ?? [])];
    const versions = dev.ofType('AWS::Lambda::Alias').map(({ properties }) => properties.FunctionVersion);
    expect(tried.map((version) => dev.referred(version)).sort()).toEqual(
      versions.map((version) => dev.referred(version)).sort(),
    );
    const waits = ({ dependsOn }: Resource) => dependsOn.includes(smokeTest?.logicalId ?? '');
    expect(except(dev.ofType('AWS::Lambda::Alias'), waits)).toEqual([]);
  });

  // Source: CDK API reference, `MetricFilterProps.metricValue`.
  test.each(Object.keys(stages))(
    'counts a field of a line only where its pattern names the field: %s',
    async (name) => {
      const filters = new SynthesisedTemplate(await stageAssembly(name)).ofType('AWS::Logs::MetricFilter');
      const named = filters.filter(({ properties }) =>
        properties.MetricTransformations[0].MetricValue.startsWith('$.'),
      );
      expect(named.length).toBeGreaterThan(eventNames.length);
      const names = ({ properties: { FilterPattern, MetricTransformations } }: Resource) =>
        FilterPattern.includes(`${MetricTransformations[0].MetricValue} >= 0`);
      expect(except(named, names)).toEqual([]);
    },
  );

  // CloudWatch Logs refuses changes of one log that come at once.
  test.each(Object.keys(stages))(
    'creates the metric filters of one log one after another: %s',
    async (name) => {
      const stage = new SynthesisedTemplate(await stageAssembly(name));
      const logs = Map.groupBy(stage.ofType('AWS::Logs::MetricFilter'), ({ properties }) =>
        stage.referred(properties.LogGroupName),
      );
      expect(logs.size).toBe(eventNames.length + 3);
      for (const filters of logs.values()) {
        const [, ...others] = filters;
        const waitsFor = filters.map(({ dependsOn }) => dependsOn);
        expect(waitsFor).toEqual([[], ...others.map((_, index) => [filters[index]?.logicalId])]);
      }
    },
  );
});

/** Synthesises as `cdk synth` does with `-c` for each entry. */
async function synthesise(overrides: Record<string, string>, environment: Record<string, string> = {}) {
  const { context } = JSON.parse(await readFile('cdk.json', 'utf8'));
  return promisify(execFile)(process.execPath, ['bin/app.ts'], {
    env: {
      ...process.env,
      ...environment,
      NODE_OPTIONS: '',
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, ...overrides }),
    },
  });
}

describe('is refused at synthesis', () => {
  test.each(['nope', 'constructor'])('the stage %j, naming those that exist', async (stage) => {
    await expect(synthesise({ stage })).rejects.toMatchObject({
      stderr: expect.stringContaining(`No stage '${stage}'. Use -c stage=NAME with one of: dev, prod`),
    });
  });

  test('a secret of another account than that of the credentials', async () => {
    const secretArn = 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:partner-AbCdEf';
    const synthesis = synthesise(
      { stages: JSON.stringify({ dev: { secretArn } }) },
      { CDK_DEFAULT_ACCOUNT: '444455556666', CDK_DEFAULT_REGION: 'eu-central-1' },
    );
    await expect(synthesis).rejects.toMatchObject({
      stderr: expect.stringContaining("secretArn: must be of the stage's account, 444455556666"),
    });
  });
});
