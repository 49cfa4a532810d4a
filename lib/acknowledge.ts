import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Acknowledges a finding of cdk-nag (`npx cdk synth -c nag=true`), with the reason, at the construct that causes it.
 * With `-c acknowledge=false` nothing is acknowledged, so every finding is shown.
 * @param rule such as `AwsSolutions-S1`; with the finding if a rule has several: `AwsSolutions-IAM5[Resource::*]`
 */
export function acknowledge(scope: IConstruct, rule: string, reason: string): void {
  if (String(scope.node.tryGetContext('acknowledge')) === 'false') return;
  Validations.of(scope).acknowledge({ id: rule, reason });
}
