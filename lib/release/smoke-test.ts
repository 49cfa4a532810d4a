import { CustomResource, Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { TestedVersions } from '../../lambda/smoke-test/probes.ts';
import {
  type FunctionDefaults,
  type ReleasedFunction,
  WebhookFunction,
} from '../pipeline/webhook-function.ts';
import type { WebhookSecret } from '../pipeline/webhook-secret.ts';

interface SmokeTestProps {
  readonly defaults: FunctionDefaults;
  readonly secret: WebhookSecret;
  readonly receiver: ReleasedFunction;
  readonly consumers: readonly ReleasedFunction[];
}

const TIMEOUT = Duration.minutes(2);
const MEMORY_MEGABYTES = 256;

/**
 * Tests the new version of each function before any of them gets traffic. If a test fails, CloudFormation rolls the
 * whole deployment back. So a broken bundle, a missing variable, an unreadable secret or a broken verification never
 * affects a delivery.
 */
export class SmokeTest extends Construct {
  constructor(scope: Construct, id: string, { defaults, secret, receiver, consumers }: SmokeTestProps) {
    super(scope, id);
    const tested = [receiver, ...consumers];
    const tester = new WebhookFunction(this, 'Tester', {
      ...defaults,
      service: 'smoke-test',
      description: 'Tries new versions before they get traffic',
      timeout: TIMEOUT,
      memory: MEMORY_MEGABYTES,
      environment: { WEBHOOK_SECRET_ARN: secret.arn },
      // The test signs a probe as the partner does.
      permissions: secret.readPermissions,
    });
    tester.function.addToRolePolicy(
      new PolicyStatement({
        actions: ['lambda:InvokeFunction'],
        resources: tested.map(({ newVersionArn }) => newVersionArn),
      }),
    );
    const passed = new CustomResource(this, 'Passed', {
      resourceType: 'Custom::SmokeTest',
      serviceToken: tester.function.functionArn,
      serviceTimeout: TIMEOUT.plus(Duration.minutes(1)),
      properties: {
        Receiver: receiver.newVersionArn,
        Consumers: consumers.map(({ newVersionArn }) => newVersionArn),
      } satisfies TestedVersions,
    });
    for (const { alias } of tested) alias.node.addDependency(passed);
  }
}
