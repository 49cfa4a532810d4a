import { Stack } from 'aws-cdk-lib';
import type { Stage as ApiStage } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import type { StageConfig } from '../config.ts';

export type FirewallSettings = NonNullable<StageConfig['waf']>;

/** Seconds that the rate rule looks back. Source: AWS WAF developer guide, "Rate-based rule high-level settings". */
const RATE_WINDOW = 300;

/** AWS WAF before a stage of a REST API: AWS' managed lists, and a rate for each address. */
export function addFirewall(scope: Construct, stage: ApiStage, settings: FirewallSettings): void {
  const { requestsPerAddress, managedLists } = settings;
  const { stackName } = Stack.of(scope);
  const counted = (metricName: string) => ({
    metricName,
    cloudWatchMetricsEnabled: true,
    // Samples show headers, and with them signatures.
    sampledRequestsEnabled: false,
  });
  const firewall = new CfnWebACL(scope, 'Firewall', {
    name: stackName,
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    visibilityConfig: counted(stackName),
    rules: [
      ...managedLists.map((name, priority) => ({
        name,
        priority,
        statement: { managedRuleGroupStatement: { vendorName: 'AWS', name } },
        overrideAction: { none: {} },
        visibilityConfig: counted(`${stackName}-${name}`),
      })),
      {
        name: 'RequestsPerAddress',
        priority: managedLists.length,
        statement: {
          rateBasedStatement: {
            aggregateKeyType: 'IP',
            limit: requestsPerAddress,
            evaluationWindowSec: RATE_WINDOW,
          },
        },
        action: { block: {} },
        visibilityConfig: counted(`${stackName}-RequestsPerAddress`),
      },
    ],
  });
  new CfnWebACLAssociation(scope, 'FirewallAssociation', {
    resourceArn: stage.stageArn,
    webAclArn: firewall.attrArn,
  });
}
