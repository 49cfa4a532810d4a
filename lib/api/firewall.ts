import { Stack } from 'aws-cdk-lib';
import type { Stage as ApiStage } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { type MetricSource, metricsUnder } from '../alarms/log-metrics.ts';
import type { StageConfig } from '../config.ts';

export type FirewallSettings = NonNullable<StageConfig['waf']>;

/** Seconds over which the rate rule counts. Source: AWS WAF developer guide, "Rate-based rule high-level settings". */
const RATE_WINDOW = 300;

/** The rule that limits the requests of one address. */
export const RATE_RULE = 'RequestsPerAddress';

/**
 * Rules of AWS's lists that count but do not block. They check contents that the partner chooses, and the signature
 * decides about these. AWS WAF ignores a name that is not in the list. docs/security.md says what each rule matches.
 * Source: AWS WAF developer guide, "Baseline rule groups"; AWS WAF API reference, `RuleActionOverride`.
 */
const COUNTED: Readonly<Record<FirewallSettings['managedLists'][number], readonly string[]>> = {
  AWSManagedRulesAmazonIpReputationList: [],
  AWSManagedRulesKnownBadInputsRuleSet: ['JavaDeserializationRCE_BODY', 'Log4JRCE_BODY', 'ReactJSRCE_BODY'],
  AWSManagedRulesCommonRuleSet: [
    'NoUserAgent_HEADER',
    'UserAgent_BadBots_HEADER',
    'SizeRestrictions_BODY',
    'EC2MetaDataSSRF_BODY',
    'GenericLFI_BODY',
    'GenericRFI_BODY',
    'CrossSiteScripting_BODY',
  ],
};

const metricOf = (scope: Construct, rule: string) => `${Stack.of(scope).stackName}-${rule}`;

/** AWS WAF in front of a stage of a REST API: AWS's managed lists, and a rate limit per address. */
export function addFirewall(scope: Construct, stage: ApiStage, settings: FirewallSettings): void {
  const { requestsPerAddress, managedLists } = settings;
  const { stackName } = Stack.of(scope);
  const counted = (metricName: string) => ({
    metricName,
    cloudWatchMetricsEnabled: true,
    // Samples show headers, including signatures.
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
        statement: {
          managedRuleGroupStatement: {
            vendorName: 'AWS',
            name,
            ruleActionOverrides: COUNTED[name].map((rule) => ({
              name: rule,
              actionToUse: { count: {} },
            })),
          },
        },
        overrideAction: { none: {} },
        visibilityConfig: counted(metricOf(scope, name)),
      })),
      {
        name: RATE_RULE,
        priority: managedLists.length,
        statement: {
          rateBasedStatement: {
            aggregateKeyType: 'IP',
            limit: requestsPerAddress,
            evaluationWindowSec: RATE_WINDOW,
          },
        },
        action: { block: {} },
        visibilityConfig: counted(metricOf(scope, RATE_RULE)),
      },
    ],
  });
  new CfnWebACLAssociation(scope, 'FirewallAssociation', {
    resourceArn: stage.stageArn,
    webAclArn: firewall.attrArn,
  });
}

/** Metrics of a rule of the firewall. @param rule a managed list, or `RATE_RULE` */
export function ruleMetrics(scope: Construct, rule: string): MetricSource {
  const { stackName, region } = Stack.of(scope);
  return metricsUnder('AWS/WAFV2', { WebACL: stackName, Rule: metricOf(scope, rule), Region: region });
}
