import type { Alias, IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { WebhookFunction, type WebhookFunctionProps } from './webhook-function.ts';

/** The alias that everything calls. */
export const LIVE = 'live';

/** A function that takes traffic: its newest version stands behind an alias, which a deployment moves. */
export class ReleasedFunction extends WebhookFunction {
  readonly alias: Alias;

  constructor(scope: Construct, id: string, props: WebhookFunctionProps) {
    super(scope, id, props);
    this.alias = this.function.addAlias(LIVE);
  }

  /** What to call. */
  get live(): IFunction {
    // CDK's own classes do not keep to exactOptionalPropertyTypes.
    return this.alias as IFunction;
  }

  /** ARN of the version that this deployment makes. */
  get newVersionArn(): string {
    return this.function.currentVersion.functionArn;
  }
}
