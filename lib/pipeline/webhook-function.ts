import { join } from 'node:path';
import { type Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  type Alias,
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import type { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type DimensionName, type MetricName, metrics } from '../../lambda/metric-names.ts';
import { acknowledge } from '../acknowledge.ts';
import { type MetricSource, metricsUnder } from '../alarms/log-metrics.ts';
import { permissionsDigest, UnchangingPolicy } from './permissions.ts';
import { ProtectedLog, type StoredProps } from './protected-storage.ts';

/** Settings that all functions of a stage share. */
export interface FunctionDefaults extends StoredProps {
  /** Folder with a subfolder per function that has its code. */
  readonly bundles: string;
  readonly logRetention: RetentionDays;
  /** Whether X-Ray follows deliveries through the functions and their queues. */
  readonly tracing: boolean;
}

/** What a function needs to reach a table, topic, queue or stream. */
export interface FunctionAccess {
  readonly environment: Readonly<Record<string, string>>;
  /** Without those for the function's log and traces, and for the key of the setting `encryption`. */
  readonly permissions: readonly PolicyStatement[];
}

interface WebhookFunctionProps extends FunctionDefaults, FunctionAccess {
  /** Name of the function's bundle, in log lines and on the command line, such as `receiver` or `shop-updated`. */
  readonly service: string;
  readonly description: string;
  readonly timeout: Duration;
  /** Megabytes. Lambda assigns processor time in proportion to memory, and cold starts need it most. */
  readonly memory: number;
  /**
   * Concurrent executions that are reserved for the function, and are also its maximum. @default the account's
   * unreserved ones
   */
  readonly reservedConcurrency?: number | undefined;
}

/**
 * A function of this service: its bundle, its own log group, and a role with the permissions that it needs and no more.
 */
export class WebhookFunction extends Construct {
  readonly function: LambdaFunction;
  readonly logGroup: LogGroup;
  readonly service: string;

  constructor(scope: Construct, id: string, props: WebhookFunctionProps) {
    super(scope, id);
    this.service = props.service;
    this.logGroup = new ProtectedLog(this, 'Log', {
      encryption: props.encryption,
      retention: props.logRetention,
      removalPolicy: props.removalPolicy,
    });
    // The role has no managed policy: AWS's policy for logging would allow writing to every log group of the account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    new UnchangingPolicy(role, 'Policy', [
      new PolicyStatement({
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [this.logGroup.logGroupArn],
      }),
      ...props.permissions,
    ]);
    props.encryption.grant(role, props.permissions);

    this.function = new LambdaFunction(this, 'Function', {
      code: Code.fromAsset(join(props.bundles, props.service)),
      handler: 'index.handler',
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memory,
      timeout: props.timeout,
      ...(props.reservedConcurrency && { reservedConcurrentExecutions: props.reservedConcurrency }),
      role,
      logGroup: this.logGroup,
      // Only the format JSON has log levels. Lambda does not change lines that are JSON already.
      loggingFormat: LoggingFormat.JSON,
      // Only failed invocations: the others would be half of a consumer's log.
      systemLogLevelV2: SystemLogLevel.WARN,
      tracing: props.tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      // Old versions are retained like data, so that a person can move the alias back.
      currentVersionOptions: { removalPolicy: props.removalPolicy },
      environment: {
        ...props.environment,
        POWERTOOLS_SERVICE_NAME: props.service,
        POWERTOOLS_METRICS_NAMESPACE: Stack.of(this).stackName,
      },
    });
    if (props.tracing) {
      acknowledge(
        role,
        'AwsSolutions-IAM5[Resource::*]',
        'X-Ray knows no resources: traces are written to the account.',
      );
    } else {
      acknowledge(
        this.function,
        'Serverless-LambdaTracing',
        'Turned off unless a stage asks for it: traces can cost more than all else about a delivery, and logs follow it, too.',
      );
    }
    acknowledge(
      this.function,
      'Serverless-LambdaDLQ',
      'It is about asynchronous invocations. API Gateway, SQS and CloudFormation wait for the result, so no invocation is lost.',
    );
  }

  /**
   * Metrics that the function publishes in its log.
   * @param values of the metrics' own dimensions. CloudWatch finds a metric only with all of them
   */
  reported(values: Partial<Record<DimensionName, string>> = {}): MetricSource<MetricName> {
    return {
      metric: (name, options) => {
        const own = metrics[name].map((dimension) => [dimension, values[dimension]]);
        const dimensions = { service: this.service, ...Object.fromEntries(own) };
        return metricsUnder(Stack.of(this).stackName, dimensions).metric(name, options);
      },
    };
  }
}

/** The alias that all callers use. */
export const LIVE = 'live';

/** A function with traffic. An alias points to its newest version, and a deployment moves the alias. */
export class ReleasedFunction extends WebhookFunction {
  readonly alias: Alias;

  constructor(scope: Construct, id: string, props: WebhookFunctionProps) {
    super(scope, id, {
      ...props,
      environment: {
        ...props.environment,
        // Makes a change of permissions alone publish a new version, which is tested before it gets traffic.
        PERMISSIONS_DIGEST: permissionsDigest(scope, [
          ...props.permissions,
          ...props.encryption.keyPermissions(props.permissions),
        ]),
      },
    });
    this.alias = this.function.addAlias(LIVE);
  }

  /** Number of the version that this deployment makes. */
  get newVersion(): string {
    return this.function.currentVersion.version;
  }

  get newVersionArn(): string {
    return this.function.currentVersion.functionArn;
  }
}
