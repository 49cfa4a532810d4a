import { randomBytes, randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { expecting } from '../events/fields.ts';
import { SMOKE_TEST_PREFIX } from '../receiver/request.ts';

/** An invocation of one function version. */
export interface Probe {
  /** Qualified: names the version that will get traffic. */
  readonly functionArn: string;
  readonly event: unknown;
  /** The problem in the function's result; undefined if there is none. */
  readonly judge: (returned: unknown) => Problem | undefined;
}

export interface Problem {
  /** Continues the function's name. Shows no part of the result but a status. */
  readonly text: string;
  /** Whether the problem may be temporary. */
  readonly mayPass: boolean;
}

const qualifiedArn = z
  .string(expecting('a function ARN with its version'))
  .check(z.regex(/:function:[^:]+:[^:]+$/, 'must be a function ARN with its version'));

const properties = z.object({
  Receiver: qualifiedArn,
  Consumers: z.array(qualifiedArn, expecting('an array of function ARNs with their versions')),
});

/**
 * The probes for a stack.
 * @param resourceProperties of the custom resource: `Receiver`, and `Consumers` in an array
 * @throws Error that names every wrong property
 */
export function readProbes(resourceProperties: unknown): Probe[] {
  const parsed = properties.safeParse(resourceProperties);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
    throw new Error(`ResourceProperties: ${faults.join('; ')}`);
  }
  const { Receiver, Consumers } = parsed.data;
  return [
    { functionArn: Receiver, event: wronglySignedRequest(), judge: judgeReceiver },
    ...Consumers.map((functionArn) => ({ functionArn, event: { Records: [] }, judge: judgeConsumer })),
  ];
}

/**
 * Whether an update is CloudFormation's own rollback. Version numbers only rise, so a lower one was deployed before. A
 * rollback must not fail for the reason that made the deployment fail.
 * @param before the resource's previous properties
 */
export function isRollback(resourceProperties: unknown, before: unknown): boolean {
  const versions = versionNumbers(resourceProperties);
  return [...versionNumbers(before)].some(([name, number]) => (versions.get(name) ?? number) < number);
}

function versionNumbers(resourceProperties: unknown): Map<string, number> {
  const parsed = properties.safeParse(resourceProperties);
  const arns = parsed.success ? [parsed.data.Receiver, ...parsed.data.Consumers] : [];
  return new Map(
    arns.map((arn) => {
      const colon = arn.lastIndexOf(':');
      return [arn.slice(0, colon), Number(arn.slice(colon + 1))];
    }),
  );
}

/**
 * A request (payload format 2.0) with a well-formed but wrong signature. To reject it, the receiver must read its
 * secret, and a rejection changes nothing. The request id distinguishes its log line from those of other senders.
 */
const wronglySignedRequest = () => ({
  headers: { 'x-webhook-signature': randomBytes(32).toString('hex') },
  requestContext: {
    http: { sourceIp: '127.0.0.1' },
    requestId: `${SMOKE_TEST_PREFIX}${randomUUID()}`,
    timeEpoch: Date.now(),
  },
  body: '{}',
  isBase64Encoded: false,
});

/**
 * The receiver must answer 401. A 500 may be temporary, because its permission to read the secret may not be effective
 * yet.
 */
function judgeReceiver(returned: unknown): Problem | undefined {
  const status = isObject(returned) ? returned.statusCode : undefined;
  if (status === 401) return undefined;
  const answer = typeof status === 'number' ? `answered ${status}` : 'returned no HTTP answer';
  return { text: `${answer} instead of 401 to a wrong signature`, mayPass: status === 500 };
}

function judgeConsumer(returned: unknown): Problem | undefined {
  const failures = isObject(returned) ? returned.batchItemFailures : undefined;
  if (Array.isArray(failures) && failures.length === 0) return undefined;
  return { text: 'did not return {"batchItemFailures":[]} for an empty batch', mayPass: false };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
