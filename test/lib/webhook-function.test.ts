import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Encryption } from '../../lib/encryption.ts';
import { ReleasedFunction } from '../../lib/pipeline/webhook-function.ts';
import { testAssembly } from '../support/test-stack.ts';

/** Logical id of the version of a function that may do something. */
function versionOf(action: string): string {
  const app = new App();
  const stack = new Stack(app, 'Stack');
  const removalPolicy = RemovalPolicy.DESTROY;
  new ReleasedFunction(stack, 'Receiver', {
    bundles: join(testAssembly(), 'bundles'),
    service: 'receiver',
    description: 'A function',
    timeout: Duration.seconds(20),
    memory: 512,
    environment: {},
    permissions: [
      new PolicyStatement({ actions: [action], resources: ['arn:aws:sqs:eu-central-1:111122223333:queue'] }),
    ],
    logRetention: RetentionDays.ONE_MONTH,
    encryption: new Encryption(stack, { settings: undefined, topicKeyArn: undefined, removalPolicy }),
    removalPolicy,
    tracing: false,
    platformLogs: false,
  });
  const { Resources } = app.synth().getStackByName('Stack').template as {
    Resources: Record<string, { Type: string }>;
  };
  const [version, ...more] = Object.keys(Resources).filter(
    (id) => Resources[id]?.Type === 'AWS::Lambda::Version',
  );
  expect(more).toEqual([]);
  return version ?? '';
}

describe('a released function', () => {
  test('gets a new version when its permissions change alone: they are tried, too, before it has traffic', () => {
    expect(versionOf('sqs:SendMessage')).not.toBe(versionOf('sqs:ReceiveMessage'));
  });

  test('keeps its version where nothing changes', () => {
    expect(versionOf('sqs:SendMessage')).toBe(versionOf('sqs:SendMessage'));
  });
});
