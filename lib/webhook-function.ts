import type { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { FunctionBundles } from './function-bundles.ts';

export interface WebhookFunctionProps {
  readonly bundles: FunctionBundles;
  /** Name of its bundle, in log lines and on the command line, such as `receiver` or `shop-updated`. */
  readonly service: string;
  /** One sentence for whoever finds the function in the console. */
  readonly description: string;
  readonly timeout: Duration;
  readonly environment: Readonly<Record<string, string>>;
  /** All that the function may do, besides writing its own log. */
  readonly permissions: readonly PolicyStatement[];
  readonly removalPolicy: RemovalPolicy;
}

/** Lambda gives processor time by memory, and a start-up is mostly that. */
const MEMORY_MEGABYTES = 512;

/** A function of this service: its bundle, its own log group, and a role that holds what it needs and no more. */
export class WebhookFunction extends Construct {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, props: WebhookFunctionProps) {
    super(scope, id);
    const logGroup = new LogGroup(this, 'Log', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: props.removalPolicy,
    });
    // AWS' managed policy for logging allows writing to every log group of the account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    for (const statement of props.permissions) role.addToPolicy(statement);

    this.function = new LambdaFunction(this, 'Function', {
      code: props.bundles.code(props.service),
      handler: 'index.handler',
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: MEMORY_MEGABYTES,
      timeout: props.timeout,
      role,
      logGroup,
      environment: { ...props.environment, POWERTOOLS_SERVICE_NAME: props.service },
    });
  }
}
