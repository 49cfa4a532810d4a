import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { catalogue, type EventName, eventNames } from '../events/catalogue.ts';
import { SMOKE_TEST_PREFIX } from '../receiver/request.ts';
import { SIGNATURE_HEADER } from '../receiver/signature.ts';

/** An invocation of one function version. */
export interface Probe {
  /** Qualified, as in {@link TestedVersions}. */
  readonly functionArn: string;
  /** @throws Error if the probe must be signed, and the secret cannot be read */
  readonly makeEvent: () => unknown;
  /** The problem in the function's result; undefined if there is none. */
  readonly judge: (returned: unknown) => ProbeProblem | undefined;
}

export interface ProbeProblem {
  /** The problem in words that follow the function's name. Shows no part of the result but a status. */
  readonly text: string;
  /** Whether the problem may be temporary. */
  readonly mayPass: boolean;
}

/**
 * The properties of the custom resource (`lib/release/smoke-test.ts`): qualified ARNs, which name the versions that will
 * get traffic.
 */
export interface TestedVersions {
  readonly Receiver: string;
  readonly Consumers: readonly string[];
}

/** @param readSecret with which the partner signs */
export const probesOf = (
  { Receiver, Consumers }: TestedVersions,
  readSecret: () => Promise<string>,
): readonly Probe[] => [
  { functionArn: Receiver, makeEvent: wronglySignedRequest, judge: judgeRejection },
  { functionArn: Receiver, makeEvent: () => signedRequest(readSecret), judge: judgeAcceptance },
  ...Consumers.map((functionArn) => ({
    functionArn,
    makeEvent: () => ({ Records: [] }),
    judge: judgeConsumer,
  })),
];

/**
 * Whether an update is CloudFormation's own rollback. Version numbers only rise, so a lower one was deployed before. A
 * rollback must not fail for the reason that made the deployment fail.
 * @param before the resource's previous properties. Those of an older template may have another form: then all is tested
 */
export function isRollback(after: TestedVersions, before: Partial<TestedVersions>): boolean {
  const versions = versionNumbers(after);
  return [...versionNumbers(before)].some(([name, number]) => (versions.get(name) ?? number) < number);
}

function versionNumbers({ Receiver = '', Consumers = [] }: Partial<TestedVersions>): Map<string, number> {
  return new Map(
    [Receiver, ...Consumers].map((arn) => {
      const colon = arn.lastIndexOf(':');
      return [arn.slice(0, colon), Number(arn.slice(colon + 1))];
    }),
  );
}

/**
 * A request (payload format 2.0). By its id, the receiver recognises it as a probe: whatever the receiver stores for a
 * probe goes to the queue for probes.
 */
const request = (body: string, signature: string) => ({
  headers: { [SIGNATURE_HEADER]: signature },
  requestContext: {
    http: { sourceIp: '127.0.0.1' },
    requestId: `${SMOKE_TEST_PREFIX}${randomUUID()}`,
    timeEpoch: Date.now(),
  },
  body,
  isBase64Encoded: false,
});

/** Tests that the receiver can read its secret: it needs the secret to reject a request. */
const wronglySignedRequest = () => request('{}', randomBytes(32).toString('hex'));

/** Tests the whole receiver: to accept a request, it must verify, parse and store it. */
async function signedRequest(readSecret: () => Promise<string>) {
  const body = JSON.stringify({ ...minimalEvent(), timestamp: new Date().toISOString() });
  // The signature is not made by the receiver's own code, because that is being tested.
  return request(
    body,
    createHmac('sha256', await readSecret())
      .update(body)
      .digest('hex'),
  );
}

/**
 * The first event of the catalogue for which text in each required field is enough.
 * @throws Error if the catalogue refuses every event
 */
function minimalEvent(): { readonly event: EventName; readonly data: object } {
  for (const event of eventNames) {
    const schema = catalogue[event].data;
    const missing = v.safeParse(schema, {}).issues ?? [];
    const data = Object.fromEntries(missing.map(({ path }) => [String(path?.[0].key), 'smoke-test']));
    if (v.is(schema, data)) return { event, data };
  }
  throw new Error('No event of the catalogue accepts text in its required fields');
}

/** A 500 may be temporary: the receiver's permission to read its secret may not be effective yet. */
const judgeRejection = (returned: unknown) => judgeStatus(returned, 401, 'a wrong signature', [500]);

/** A 401 may be temporary, too: the secret may have been rotated since the receiver read it. */
const judgeAcceptance = (returned: unknown) =>
  judgeStatus(returned, 200, 'a correct signature', [401, 500]) ??
  (isQueued(returned) ? undefined : { text: 'did not queue an event of a known kind', mayPass: false });

function judgeStatus(
  returned: unknown,
  expected: number,
  request: string,
  temporary: readonly number[],
): ProbeProblem | undefined {
  const status = isObject(returned) ? returned.statusCode : undefined;
  if (status === expected) return undefined;
  const answer = typeof status === 'number' ? `answered ${status}` : 'returned no HTTP answer';
  return {
    text: `${answer} instead of ${expected} to ${request}`,
    mayPass: typeof status === 'number' && temporary.includes(status),
  };
}

function isQueued(returned: unknown): boolean {
  const body = isObject(returned) ? returned.body : undefined;
  return typeof body === 'string' && /"status":"queued"/.test(body);
}

function judgeConsumer(returned: unknown): ProbeProblem | undefined {
  const failures = isObject(returned) ? returned.batchItemFailures : undefined;
  if (Array.isArray(failures) && failures.length === 0) return undefined;
  return { text: 'did not return {"batchItemFailures":[]} for an empty batch', mayPass: false };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
