import { expect, test } from '@jest/globals';
import { expectCheckedIn } from '../support/checked-in.ts';
import { stageAssembly } from './stage-assembly.ts';
import { type Permission, SynthesisedTemplate } from './synthesised-template.ts';

const rowsOf = (template: SynthesisedTemplate) =>
  template
    .ofType('AWS::IAM::Role')
    .flatMap((role) => template.permissionsOf(role).map((permission) => row(role.path, permission)));

const row = (role: string, { action, resource, condition }: Permission) =>
  `| ${role.replace(/\/Role$/, '')} | ${action} | ${resource} | ${condition} |`;

const table = (rows: readonly string[]) =>
  ['| Role of | Action | Resource | Condition |', '|---|---|---|---|', ...rows].join('\n');

test('every role allows exactly what docs/permissions.md says', async () => {
  const prod = rowsOf(new SynthesisedTemplate(await stageAssembly('prod')));
  const everySetting = rowsOf(new SynthesisedTemplate(await stageAssembly('every-setting')));
  const added = everySetting.filter((one) => !prod.includes(one));
  expectCheckedIn(
    'docs/permissions.md',
    `# Permissions

What each role of the stack may do, made from the synthesised template: a grant that grows is a line here, and
a test fails until the line is checked in (\`UPDATE=1 npm test -- permissions\`). A resource is named by its
construct's path. Besides, every queue, topic and bucket refuses what does not come over TLS.

## The prod stage

${table(prod)}

## What optional settings add

An existing secret and its key, an existing key of the topics, a CloudFront distribution, chat channels.

${table(added)}
`,
  );
}, 120_000);

test('every role is taken on by the one service that needs it, and by nobody else', async () => {
  const template = new SynthesisedTemplate(await stageAssembly('every-setting'));
  const services = template.ofType('AWS::IAM::Role').map(({ path, properties }) => {
    const [statement, ...more] = properties.AssumeRolePolicyDocument.Statement;
    expect(more).toEqual([]);
    return [path, JSON.stringify(statement.Principal)];
  });
  const others: Record<string, string> = {
    'Canaries/Role': 'codedeploy.amazonaws.com',
    'Effects/ChatChannels/Role': 'chatbot.amazonaws.com',
  };
  const wrong = services.filter(
    ([path = '', principal]) =>
      principal !== JSON.stringify({ Service: others[path] ?? 'lambda.amazonaws.com' }),
  );
  expect(wrong).toEqual([]);
}, 120_000);

test('only what knows no resources is allowed on `*`, and no action has a wildcard', async () => {
  const templates = await Promise.all(['prod', 'every-setting'].map((stage) => stageAssembly(stage)));
  const wide = templates
    .flatMap((assembly) => rowsOf(new SynthesisedTemplate(assembly)))
    .map((one) => one.split(' | '))
    .filter(([, action, resource]) => resource === '*' || /[*?]/.test(String(action)))
    .map(([, action]) => action);
  expect(new Set(wide)).toEqual(
    new Set(['xray:PutTelemetryRecords', 'xray:PutTraceSegments', 'cloudwatch:DescribeAlarms']),
  );
}, 120_000);
