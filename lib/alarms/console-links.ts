import { Stack, Token } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { IConstruct } from 'constructs';

/**
 * Hosts of the AWS console, by the first characters of a region's name. Sources: "Service endpoints" in the user guides
 * of AWS China, AWS GovCloud (US) and the AWS European Sovereign Cloud.
 */
const HOSTS: readonly (readonly [start: string, host: string])[] = [
  ['cn-', 'console.amazonaws.cn'],
  ['us-gov-', 'console.amazonaws-us-gov.com'],
  ['eusc-', 'console.amazonaws-eusc.eu'],
];

const HOST = 'console.aws.amazon.com';

/** Milliseconds of the log that a link shows: three hours, as on the dashboard. */
const LOG_RANGE = 3 * 60 * 60 * 1000;

export function queueLink(queue: IQueue): string {
  const { region, account, urlSuffix } = Stack.of(queue);
  const url = `https%3A%2F%2Fsqs.${region}.${urlSuffix}%2F${account}%2F${queue.queueName}`;
  return link('Queue', queue, 'sqs/v3/home', `#/queues/${url}`);
}

/**
 * Link to the log lines of the last three hours that match a filter pattern.
 * @param name of the log group, encoded by {@link inFragment}. Names that CloudFormation generates need no encoding
 */
export function logLink(logGroup: ILogGroup, filterPattern: string, name = logGroup.logGroupName): string {
  const group = `#logsV2:log-groups/log-group/${name}`;
  const query = `$3FfilterPattern$3D${inFragment(filterPattern)}$26start$3D-${LOG_RANGE}`;
  return link('Log', logGroup, 'cloudwatch/home', `${group}/log-events${query}`);
}

export function dashboardLink(scope: IConstruct): string {
  return link('Dashboard', scope, 'cloudwatch/home', `#dashboards/dashboard/${Stack.of(scope).stackName}`);
}

export function functionLink(lambdaFunction: IFunction): string {
  return link('Function', lambdaFunction, 'lambda/home', `#/functions/${lambdaFunction.functionName}`);
}

export function topicLink(topic: ITopic): string {
  return link('Topic', topic, 'sns/v3/home', `#/topic/${topic.topicArn}`);
}

export function httpApiLink(scope: IConstruct, apiId: string): string {
  return link('API', scope, 'apigateway/main/api-detail', `&api=${apiId}`);
}

export function restApiLink(scope: IConstruct, apiId: string): string {
  return link('API', scope, `apigateway/main/apis/${apiId}/resources`, `&api=${apiId}`);
}

/** @param scope in the certificate's region */
export function certificateLink(scope: IConstruct, arn: string): string {
  return link('Certificate', scope, 'acm/home', `#/certificates/${arn.split('/').at(-1)}`);
}

/** A page of the AWS console. Outside the partition `aws`, the host is right only if the stage sets its `region`. */
function link(name: string, scope: IConstruct, page: string, rest: string): string {
  const { region } = Stack.of(scope);
  const partition = Token.isUnresolved(region)
    ? undefined
    : HOSTS.find(([start]) => region.startsWith(start));
  return `${name}: https://${region}.${partition?.[1] ?? HOST}/${page}?region=${region}${rest}`;
}

/** The console encodes what follows `#` twice, with `$` for `%`. */
export const inFragment = (text: string): string =>
  encodeURIComponent(encodeURIComponent(text)).replaceAll('%', '$');
