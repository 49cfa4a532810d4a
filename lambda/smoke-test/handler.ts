import { setTimeout as sleep } from 'node:timers/promises';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { CloudFormationCustomResourceEvent, Context } from 'aws-lambda';
import { clientSettings, connections } from '../aws-clients.ts';
import { ConnectionHandler } from '../connections.ts';
import { requireEnvironment } from '../environment.ts';
import { isOutage } from '../errors.ts';
import { readSecretValue } from '../receiver/secret-value.ts';
import { isRollback, type Probe, type ProbeProblem, probesOf, type TestedVersions } from './probes.ts';

/** Timeout of a probe, in milliseconds. A probe takes a few seconds at most, and Lambda allows 10 s for a start. */
const INVOCATION_TIMEOUT = 45_000;

/** Milliseconds before its own timeout at which this function stops, to have time to answer CloudFormation. */
const ANSWER_MARGIN = 5_000;

/** Timeout of the answer, in milliseconds. */
const ANSWER_TIMEOUT = 4_000;

/**
 * How long temporary problems are retried, in milliseconds. New permissions take seconds to reach all of AWS (IAM user
 * guide, "Changes that I make are not always immediately visible"). A new function or version is `Pending` until Lambda
 * has created its resources (Lambda developer guide, "Lambda function states").
 */
const SETTLING_TIME = 60_000;

/** Wait between two attempts, in milliseconds. */
const RETRY_INTERVAL = 1_000;

/**
 * Errors that are temporary during a deployment: a permission that is not yet effective, a function that is `Pending`,
 * and too many invocations. Source: Lambda API reference, `Invoke`.
 */
const SETTLES = new Set(['AccessDeniedException', 'ResourceConflictException', 'TooManyRequestsException']);

/**
 * Id of the custom resource. It is constant, because with a new id CloudFormation would treat an update as a
 * replacement.
 */
const PHYSICAL_RESOURCE_ID = 'smoke-test';

/**
 * Longest reason, in characters. The whole answer may have 4,096 bytes. Source: CloudFormation user guide,
 * "Custom resource response objects".
 */
const MAX_REASON_LENGTH = 1500;

const secrets = new SecretsManagerClient(clientSettings);

const client = new LambdaClient({
  maxAttempts: 3,
  requestHandler: new ConnectionHandler(connections, {
    connectionTimeout: 1_000,
    requestTimeout: INVOCATION_TIMEOUT,
  }),
});

/**
 * The custom resource on which the functions' aliases depend. It checks for each new version that its code loads and
 * its environment is complete, and that the receiver rejects a wrong signature and accepts a right one. If a check
 * fails, the deployment is rolled back before the version gets traffic. No probe reaches a consumer or an alarm.
 */
export async function handler(
  event: CloudFormationCustomResourceEvent<TestedVersions, Partial<TestedVersions>>,
  context: Context,
): Promise<void> {
  const limit = Math.max(0, context.getRemainingTimeInMillis() - ANSWER_MARGIN);
  const hasNewVersions =
    event.RequestType === 'Create' ||
    (event.RequestType === 'Update' && !isRollback(event.ResourceProperties, event.OldResourceProperties));
  await answer(
    event,
    hasNewVersions ? await smokeTest(event.ResourceProperties, AbortSignal.timeout(limit)) : undefined,
  );
}

/** @returns all problems in one line; undefined if there are none */
async function smokeTest(versions: TestedVersions, outOfTime: AbortSignal): Promise<string | undefined> {
  try {
    const probes = probesOf(versions, () => readSecret(outOfTime));
    const found = await Promise.all(probes.map((probe) => check(probe, outOfTime)));
    return found.filter((problem) => problem !== undefined).join('; ') || undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'The smoke test itself failed';
  }
}

/**
 * Sends a probe, and repeats it while the problem may be temporary.
 * @param outOfTime aborts the check at once
 * @returns the problem, beginning with the function's name and version; undefined if there is none
 */
async function check(probe: Probe, outOfTime: AbortSignal): Promise<string | undefined> {
  const settled = Date.now() + SETTLING_TIME;
  const name = probe.functionArn.split(':').slice(-2).join(':');
  let last: ProbeProblem | undefined;
  for (;;) {
    const problem = await attempt(probe, outOfTime);
    if (problem === undefined) return undefined;
    if (outOfTime.aborted) return `${name} ${last?.text ?? 'did not answer'} before the time limit`;
    if (!problem.mayPass || Date.now() > settled) return `${name} ${problem.text}`;
    last = problem;
    // The next attempt notices an abort.
    await sleep(RETRY_INTERVAL, undefined, { signal: outOfTime }).catch(() => {});
  }
}

async function attempt(
  { functionArn, makeEvent, judge }: Probe,
  abortSignal: AbortSignal,
): Promise<ProbeProblem | undefined> {
  let problem = 'could not get a signed request, because the secret cannot be read';
  try {
    const event = await makeEvent();
    problem = 'could not be invoked';
    const { FunctionError, Payload } = await client.send(
      new InvokeCommand({ FunctionName: functionArn, Payload: JSON.stringify(event) }),
      { abortSignal },
    );
    const returned = fromJson(Payload?.transformToString());
    if (FunctionError === undefined) return judge(returned);
    return { text: `failed with ${errorType(returned)}: see its log`, mayPass: false };
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    return { text: `${problem}: ${name}`, mayPass: SETTLES.has(name) || isOutage(error) };
  }
}

/**
 * The secret with which the partner signs now.
 * @throws the client's error, or UnusableSecretError
 */
async function readSecret(abortSignal: AbortSignal): Promise<string> {
  const { WEBHOOK_SECRET_ARN: SecretId } = requireEnvironment(['WEBHOOK_SECRET_ARN']);
  const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId }), { abortSignal });
  return readSecretValue(SecretString);
}

/** The class of a function error. Its message is left out, because it may contain secrets. */
function errorType(returned: unknown): string {
  const type = typeof returned === 'object' && returned && 'errorType' in returned ? returned.errorType : '';
  return typeof type === 'string' && /^[\w.]{1,100}$/.test(type) ? type : 'an error without a type';
}

function fromJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

/**
 * Tells CloudFormation how a request to a custom resource ended.
 * @param failure the reason, if it failed
 * @throws Error if CloudFormation did not accept the answer in time. Lambda then repeats the invocation
 */
async function answer(
  { StackId, RequestId, LogicalResourceId, ResponseURL }: CloudFormationCustomResourceEvent<unknown>,
  failure: string | undefined,
): Promise<void> {
  const response = await fetch(ResponseURL, {
    method: 'PUT',
    // The URL is signed for an empty content type.
    headers: { 'content-type': '' },
    signal: AbortSignal.timeout(ANSWER_TIMEOUT),
    body: JSON.stringify({
      Status: failure === undefined ? 'SUCCESS' : 'FAILED',
      ...(failure !== undefined && { Reason: failure.slice(0, MAX_REASON_LENGTH).toWellFormed() }),
      PhysicalResourceId: PHYSICAL_RESOURCE_ID,
      StackId,
      RequestId,
      LogicalResourceId,
    }),
  });
  if (!response.ok) throw new Error(`CloudFormation refused the answer with ${response.status}`);
}
