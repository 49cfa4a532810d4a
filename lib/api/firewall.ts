import { ArnFormat, Aws, Stack } from 'aws-cdk-lib';
import type { Stage as ApiStage } from 'aws-cdk-lib/aws-apigateway';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnLoggingConfiguration, CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { RATE_WINDOW_SECONDS } from '../../lambda/limits.ts';
import { SIGNATURE_HEADER } from '../../lambda/receiver/signature.ts';
import { type MetricSource, metricsUnder } from '../alarms/log-metrics.ts';
import type { StageConfig } from '../config.ts';
import { ProtectedLog, type ProtectedLogProps } from '../pipeline/protected-storage.ts';
import { logName } from './access-log.ts';

export interface FirewallProps extends NonNullable<StageConfig['waf']> {
  /** Properties of the log of blocked requests. */
  readonly log: ProtectedLogProps;
}

/** Name of the rule that limits requests per IP address, also in its metric. */
export const RATE_RULE = 'RequestsPerAddress';

/**
 * Rules of AWS's lists that count but do not block. They check contents that the partner chooses, and the signature
 * decides about these. AWS WAF ignores a name that is not in the list. docs/security.md says what each rule matches.
 * Source: AWS WAF developer guide, "Baseline rule groups"; AWS WAF API reference, `RuleActionOverride`.
 */
const COUNTED: Readonly<Record<FirewallProps['managedLists'][number], readonly string[]>> = {
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

/** AWS WAF in front of a stage of a REST API: AWS's managed lists, a rate limit per address, and a log of blocks. */
export function addFirewall(scope: Construct, stage: ApiStage, props: FirewallProps): void {
  const { requestsPerAddress, managedLists, log } = props;
  const { stackName } = Stack.of(scope);
  const counted = (metricName: string) => ({
    metricName,
    cloudWatchMetricsEnabled: true,
    // Samples of requests are off, because they show headers, including signatures.
    sampledRequestsEnabled: false,
  });
  const firewall = new CfnWebACL(scope, 'Firewall', {
    name: stackName,
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    visibilityConfig: counted(stackName),
    // The log shows what a rule matched, which may be part of a payload.
    dataProtectionConfig: {
      dataProtections: [{ field: { fieldType: 'BODY' }, action: 'SUBSTITUTION' }],
    },
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
            evaluationWindowSec: RATE_WINDOW_SECONDS,
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
  logBlocks(scope, firewall, log);
}

/** Prefix that AWS WAF requires. Source: AWS WAF API reference, `LoggingConfiguration`. */
const LOG_PREFIX = 'aws-waf-logs-';

/** Logs blocked requests, without the signature. */
function logBlocks(scope: Construct, firewall: CfnWebACL, props: ProtectedLogProps): void {
  const log = new ProtectedLog(scope, 'FirewallLog', {
    ...props,
    logGroupName: `${LOG_PREFIX}${logName(scope, 'firewall')}`,
  });
  const stack = Stack.of(scope);
  // Without this policy, AWS WAF adds each log to one policy of the account, which fails above 5,120 characters.
  // Sources: CloudWatch Logs user guide, "Logs sent to CloudWatch Logs";
  // https://github.com/hashicorp/terraform-provider-aws/issues/25296.
  const { policyDependable } = log.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('delivery.logs.amazonaws.com')],
      actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      resources: [log.logGroupArn],
      conditions: {
        StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID },
        ArnLike: { 'aws:SourceArn': stack.formatArn({ service: 'logs', resource: '*' }) },
      },
    }),
  );
  const logging = new CfnLoggingConfiguration(scope, 'FirewallLogging', {
    resourceArn: firewall.attrArn,
    // The ARN of the log group without `:*`, which the construct's own ARN ends with.
    logDestinationConfigs: [
      stack.formatArn({
        service: 'logs',
        resource: 'log-group',
        resourceName: log.logGroupName,
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
      }),
    ],
    redactedFields: [{ singleHeader: { Name: SIGNATURE_HEADER } }],
    loggingFilter: {
      DefaultBehavior: 'DROP',
      Filters: [
        {
          Behavior: 'KEEP',
          Requirement: 'MEETS_ANY',
          Conditions: [{ ActionCondition: { Action: 'BLOCK' } }],
        },
      ],
    },
  });
  if (policyDependable) logging.node.addDependency(policyDependable);
}

/**
 * Metrics of a rule of the firewall.
 * @param rule a managed list, or `RATE_RULE`
 */
export function ruleMetrics(scope: Construct, rule: string): MetricSource {
  const { stackName, region } = Stack.of(scope);
  return metricsUnder('AWS/WAFV2', { WebACL: stackName, Rule: metricOf(scope, rule), Region: region });
}
