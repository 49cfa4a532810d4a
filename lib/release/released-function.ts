import { createHash } from 'node:crypto';
import { Stack } from 'aws-cdk-lib';
import type { Alias, IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type MetricSource, metricsUnder } from '../alarms/log-metrics.ts';
import { WebhookFunction, type WebhookFunctionProps } from '../pipeline/webhook-function.ts';

/** The alias that everything calls. */
export const LIVE = 'live';

/** A function that takes traffic: its newest version stands behind an alias, which a deployment moves. */
export class ReleasedFunction extends WebhookFunction {
  readonly alias: Alias;

  constructor(scope: Construct, id: string, props: WebhookFunctionProps) {
    const permissions = Stack.of(scope).resolve(
      [...props.permissions, ...props.encryption.keyPermissions(props.permissions)].map((statement) =>
        statement.toStatementJson(),
      ),
    );
    super(scope, id, {
      ...props,
      environment: {
        ...props.environment,
        // A change of permissions alone would make no new version: nothing would be tried or shifted.
        PERMISSIONS_DIGEST: createHash('sha256')
          .update(JSON.stringify(permissions))
          .digest('hex')
          .slice(0, 16),
      },
    });
    this.alias = this.function.addAlias(LIVE);
  }

  /** What to call. */
  get live(): IFunction {
    // CDK's own classes do not keep to exactOptionalPropertyTypes.
    return this.alias as IFunction;
  }

  /** Number of the version that this deployment makes. */
  get newVersion(): string {
    return this.function.currentVersion.version;
  }

  get newVersionArn(): string {
    return this.function.currentVersion.functionArn;
  }

  /**
   * Lambda's metrics of the new version, which it has while traffic is shifted only. Source: Lambda developer guide, "Types
   * of metrics", `ExecutedVersion`.
   */
  get newVersionMetrics(): MetricSource {
    const { functionName } = this.function;
    return metricsUnder('AWS/Lambda', {
      FunctionName: functionName,
      Resource: `${functionName}:${LIVE}`,
      ExecutedVersion: this.newVersion,
    });
  }
}
