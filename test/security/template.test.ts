import { expect, test } from '@jest/globals';
import { SynthesisedTemplate } from '../../tools/generate/synthesised-template.ts';
import { testAssembly } from '../support/test-stack.ts';

const template = new SynthesisedTemplate(testAssembly());

test('API Gateway may invoke the receiver for this API and its one route only', () => {
  const { logicalId } = template.at('AWS::ApiGatewayV2::Api', 'Api/HttpApi');
  const [permission, ...others] = template.ofType('AWS::Lambda::Permission');
  expect(others).toEqual([]);
  const source = JSON.stringify(permission?.properties.SourceArn);
  expect(source).toContain(`:",{"Ref":"${logicalId}"},"/*/*/api/v1/webhooks/partner"`);
});

test('no queue, topic or bucket lets another account in', () => {
  const types = ['AWS::SQS::QueuePolicy', 'AWS::SNS::TopicPolicy', 'AWS::S3::BucketPolicy'];
  const allowing = types
    .flatMap((type) => template.ofType(type))
    .flatMap(({ properties }) => properties.PolicyDocument.Statement)
    .filter(({ Effect }) => Effect === 'Allow');
  const bound = { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } };
  expect(allowing.filter(({ Condition }) => JSON.stringify(Condition) !== JSON.stringify(bound))).toEqual([]);
});

test('no function has the secret in its environment, only where it is', () => {
  const names = template
    .ofType('AWS::Lambda::Function')
    .flatMap(({ properties }) => Object.keys(properties.Environment.Variables))
    .filter((name) => /secret|password|token/i.test(name));
  expect(new Set(names)).toEqual(new Set(['SECRET_GRACE_SECONDS', 'WEBHOOK_SECRET_ARN']));
});
