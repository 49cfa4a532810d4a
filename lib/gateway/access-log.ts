import { Fn, Stack } from 'aws-cdk-lib';
import { LogGroup, type LogGroupProps } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

/**
 * What the access log says of each request, of both kinds of API: nothing that the partner sent.
 * `responseType` is what API Gateway calls an answer of its own, `-` where the receiver answered.
 * @param route the variable of the kind of API that names the route
 */
export function accessLogFormat(route: 'routeKey' | 'resourcePath'): string {
  return JSON.stringify({
    requestId: '$context.requestId',
    time: '$context.requestTime',
    sourceIp: '$context.identity.sourceIp',
    method: '$context.httpMethod',
    route: `$context.${route}`,
    status: '$context.status',
    responseType: '$context.error.responseType',
    bytes: '$context.responseLength',
    latency: '$context.responseLatency',
    integrationError: '$context.integrationErrorMessage',
  });
}

/**
 * The group of the access log. Under another prefix each one adds to a policy of the account that ends at 5,120
 * characters, and with it the deployment. Source: CloudWatch Logs user guide, "Enabling logging from AWS services",
 * "Log resource policy size limit considerations".
 */
export function accessLog(scope: Construct, id: string, props: LogGroupProps): LogGroup {
  const { stackName, stackId } = Stack.of(scope);
  // A name of one's own may be taken: by the log that a former stack of that name has left.
  const unique = Fn.select(2, Fn.split('/', stackId));
  return new LogGroup(scope, id, { ...props, logGroupName: `/aws/vendedlogs/${stackName}-access-${unique}` });
}
