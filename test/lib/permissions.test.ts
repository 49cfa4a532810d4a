import { expect, test } from '@jest/globals';
import { SynthesisedTemplate } from '../../tools/generate/synthesised-template.ts';
import { stageAssembly } from './stage-assembly.ts';

test('every role is taken on by the one service that needs it, and by nobody else', async () => {
  const template = new SynthesisedTemplate(await stageAssembly('every-setting'));
  const services = template.ofType('AWS::IAM::Role').map(({ path, properties }) => {
    const [statement, ...more] = properties.AssumeRolePolicyDocument.Statement;
    expect(more).toEqual([]);
    return [path, JSON.stringify(statement.Principal)];
  });
  const others: Record<string, string> = {
    'Archive/Writer': 'firehose.amazonaws.com',
    'Canaries/Role': 'codedeploy.amazonaws.com',
    'Effects/ChatChannels/Role': 'chatbot.amazonaws.com',
  };
  const wrong = services.filter(
    ([path = '', principal]) =>
      principal !== JSON.stringify({ Service: others[path] ?? 'lambda.amazonaws.com' }),
  );
  expect(wrong).toEqual([]);
});

test('only what knows no resources is allowed on `*`, and no action has a wildcard', async () => {
  const templates = await Promise.all(
    ['prod', 'every-setting', 'encrypted'].map((stage) => stageAssembly(stage)),
  );
  const wide = templates
    .map((assembly) => new SynthesisedTemplate(assembly))
    .flatMap((template) => template.ofType('AWS::IAM::Role').flatMap((role) => template.permissionsOf(role)))
    .filter(({ action, resource }) => resource === '*' || /[*?]/.test(action))
    .map(({ action }) => action);
  expect(new Set(wide)).toEqual(
    new Set(['xray:PutTelemetryRecords', 'xray:PutTraceSegments', 'cloudwatch:DescribeAlarms']),
  );
});
