import { Names, Stack } from 'aws-cdk-lib';
import { CfnSamplingRule } from 'aws-cdk-lib/aws-xray';
import type { Construct } from 'constructs';
import type { StageConfig } from '../config.ts';

/** Source: X-Ray API reference, "SamplingRule", `RuleName`. */
const LONGEST_NAME = 32;

/** Before the account's own rule, which is at 10,000; rules of other stages are about other APIs. */
const PRIORITY = 1_000;

/**
 * Which requests API Gateway has X-Ray follow. Functions keep to what it decided, and hand it on through the queues.
 * Lambda itself asks no rule. Source: Lambda developer guide, "Visualize Lambda function invocations using AWS X-Ray".
 * @param apiStageArn of the REST API: another stage of the account is not meant
 */
export function sampleTraces(
  scope: Construct,
  apiStageArn: string,
  { rate, reservoir }: NonNullable<StageConfig['sampling']>,
): void {
  new CfnSamplingRule(scope, 'Sampling', {
    samplingRule: {
      ruleName: Names.uniqueResourceName(scope, { maxLength: LONGEST_NAME }),
      version: 1,
      priority: PRIORITY,
      fixedRate: rate,
      reservoirSize: reservoir,
      resourceArn: apiStageArn,
      serviceType: 'AWS::ApiGateway::Stage',
      serviceName: `${Stack.of(scope).stackName}/*`,
      host: '*',
      httpMethod: '*',
      urlPath: '*',
    },
  });
}
