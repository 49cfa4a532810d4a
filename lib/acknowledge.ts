import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Says why a finding of cdk-nag (`npx cdk synth -c nag=true`) is right as it is, where it is caused.
 * With `-c acknowledge=false` nothing is acknowledged, and every finding shown.
 * @param rule such as `AwsSolutions-S1`, with the finding where a rule has several: `AwsSolutions-IAM5[Resource::*]`
 */
export function acknowledge(scope: IConstruct, rule: string, reason: string): void {
  if (String(scope.node.tryGetContext('acknowledge')) === 'false') return;
  Validations.of(scope).acknowledge({ id: rule, reason });
}
