import { randomBytes, randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { expecting } from '../events/fields.ts';
import { SMOKE_TEST_PREFIX } from './request-id.ts';

/** An invocation of one function version. */
export interface Probe {
  /** Qualified, so that it names the version that is to get traffic. */
  readonly functionArn: string;
  readonly event: unknown;
  /** What is wrong with what the function returned; undefined if nothing is. */
  readonly judge: (returned: unknown) => Problem | undefined;
}

export interface Problem {
  /** Continues the function's name. Shows nothing of what the function returned except a status. */
  readonly text: string;
  /** Whether it may be gone in a minute. */
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
 * The probes that a stack asks for.
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
 * Whether an update is CloudFormation's own rollback: numbers of versions only rise, so a lower one was deployed before. A
 * rollback must not fail for what made the deployment fail.
 * @param before the resource's properties until now
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
 * What the receiver reads of a request (payload format 2.0), with a well-formed but wrong signature: to refuse it, the
 * receiver has to read its secret, and refusing has no effect. The request id tells its log line from those of strangers.
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

/** The receiver must answer 401. A 500 may pass: its right to read the secret may not have spread yet. */
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
