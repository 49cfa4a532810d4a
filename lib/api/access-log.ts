import { Fn, Stack } from 'aws-cdk-lib';
import { FilterPattern, type IFilterPattern } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { inFragment, logLink } from '../alarms/console-links.ts';
import { ProtectedLog, type ProtectedLogProps } from '../pipeline/protected-storage.ts';

/**
 * The fields of an access log line, for both kinds of API. None comes from the partner. `responseType` names API
 * Gateway's own answers; `-` if the receiver answered.
 * @param variables of one kind of API: a request id that no client can choose, the route, and others
 */
export function accessLogFormat({
  requestId,
  route,
  ...others
}: Readonly<Record<'requestId' | 'route', string> & Partial<Record<'tlsVersion', string>>>): string {
  return JSON.stringify({
    requestId,
    time: '$context.requestTime',
    sourceIp: '$context.identity.sourceIp',
    method: '$context.httpMethod',
    route,
    status: '$context.status',
    responseType: '$context.error.responseType',
    bytes: '$context.responseLength',
    latency: '$context.responseLatency',
    integrationError: '$context.integrationErrorMessage',
    ...others,
  });
}

/** Matches access log lines with one of these HTTP statuses. */
export function statusIn(first: number, ...others: number[]) {
  const is = (status: number) => FilterPattern.stringValue('$.status', '=', String(status));
  return others.length === 0 ? is(first) : FilterPattern.any(is(first), ...others.map(is));
}

/**
 * Log groups with this prefix need no statement in an account policy. That policy can have only 5,120 characters; above
 * that, a deployment fails. Source: CloudWatch Logs user guide, "Enabling logging from AWS services", "Log resource
 * policy size limit considerations".
 */
const PREFIX = '/aws/vendedlogs/';

/** A name that contains part of the stack's id: the log of a deleted stack with the same name may still exist. */
export function logName(scope: Construct, kind: string): string {
  const { stackName, stackId } = Stack.of(scope);
  return `${stackName}-${kind}-${Fn.select(2, Fn.split('/', stackId))}`;
}

export class AccessLog extends ProtectedLog {
  readonly #nameInLinks: string;

  constructor(scope: Construct, id: string, props: ProtectedLogProps) {
    const name = logName(scope, 'access');
    super(scope, id, { ...props, logGroupName: `${PREFIX}${name}` });
    this.#nameInLinks = `${inFragment(PREFIX)}${name}`;
  }

  /** Link to the access log lines that match a pattern. */
  link(pattern: IFilterPattern): string {
    return logLink(this, pattern.logPatternString, this.#nameInLinks);
  }
}
