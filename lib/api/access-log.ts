import { Fn, Stack } from 'aws-cdk-lib';
import { FilterPattern, type IFilterPattern } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { inFragment, logLink } from '../alarms/console-links.ts';
import { ProtectedLog, type ProtectedLogProps } from '../pipeline/protected-storage.ts';

/**
 * What the access log says of each request, of both kinds of API: nothing that the partner sent.
 * `responseType` is what API Gateway calls an answer of its own, `-` if the receiver answered.
 * @param id the variable of the kind of API that no client can choose
 * @param route the one that names the route
 */
export function accessLogFormat(id: 'requestId' | 'extendedRequestId', route: 'routeKey' | 'resourcePath') {
  return JSON.stringify({
    requestId: `$context.${id}`,
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

/** Lines with one of these statuses. */
export function statusIn(first: number, ...others: number[]) {
  const is = (status: number) => FilterPattern.stringValue('$.status', '=', String(status));
  return others.length === 0 ? is(first) : FilterPattern.any(is(first), ...others.map(is));
}

/**
 * Not under the usual prefix: each log there adds to a policy of the account that ends at 5,120 characters, and with
 * it the deployment. Source: CloudWatch Logs user guide, "Enabling logging from AWS services", "Log resource policy size
 * limit considerations".
 */
const PREFIX = '/aws/vendedlogs/';

/** The log of an API's requests. */
export class AccessLog extends ProtectedLog {
  readonly #nameInLinks: string;

  constructor(scope: Construct, id: string, props: ProtectedLogProps) {
    const { stackName, stackId } = Stack.of(scope);
    // A name of one's own may be taken: by the log that a former stack of that name has left.
    const name = `${stackName}-access-${Fn.select(2, Fn.split('/', stackId))}`;
    super(scope, id, { ...props, logGroupName: `${PREFIX}${name}` });
    this.#nameInLinks = `${inFragment(PREFIX)}${name}`;
  }

  /** To its lines of a pattern. */
  link(pattern: IFilterPattern): string {
    return logLink(this, pattern.logPatternString, this.#nameInLinks);
  }
}
