import { setTimeout as sleep } from 'node:timers/promises';
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { Probe, Problem } from './probes.ts';

/**
 * How long what may pass is given, in milliseconds. New permissions take seconds to reach all of AWS,
 * without a promise (IAM user guide, "Changes that I make are not always immediately visible"), and a new
 * function or version is `Pending` until Lambda has made its resources (Lambda developer guide, "Lambda
 * function states").
 */
const SETTLING_TIME = 60_000;

/** Wait between two attempts, in milliseconds. */
const RETRY_INTERVAL = 1_000;

/**
 * Errors of `Invoke` that pass when a deployment has settled: a permission that has not spread, a function
 * that is `Pending`, and more invocations than the account admits. Source: Lambda API reference, `Invoke`.
 */
const SETTLES = new Set(['AccessDeniedException', 'ResourceConflictException', 'TooManyRequestsException']);

/**
 * Sends a probe, repeatedly where what goes wrong may pass.
 * @param outOfTime ends it at once
 * @returns what is wrong, beginning with the function's name and version; undefined where nothing is
 */
export async function check(
  client: LambdaClient,
  probe: Probe,
  outOfTime: AbortSignal,
): Promise<string | undefined> {
  const settled = Date.now() + SETTLING_TIME;
  const name = probe.functionArn.split(':').slice(-2).join(':');
  let last: Problem | undefined;
  for (;;) {
    const problem = await attempt(client, probe, outOfTime);
    if (problem === undefined) return undefined;
    if (outOfTime.aborted) return `${name} ${last?.text ?? 'did not answer'} when the time was up`;
    if (!problem.mayPass || Date.now() > settled) return `${name} ${problem.text}`;
    last = problem;
    // An abort is seen by the next attempt.
    await sleep(RETRY_INTERVAL, undefined, { signal: outOfTime }).catch(() => {});
  }
}

async function attempt(
  client: LambdaClient,
  { functionArn, event, judge }: Probe,
  abortSignal: AbortSignal,
): Promise<Problem | undefined> {
  try {
    const { FunctionError, Payload } = await client.send(
      new InvokeCommand({ FunctionName: functionArn, Payload: JSON.stringify(event) }),
      { abortSignal },
    );
    const returned = fromJson(Payload?.transformToString());
    if (FunctionError === undefined) return judge(returned);
    return { text: `failed with ${errorType(returned)}: see its log`, mayPass: false };
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    return { text: `could not be invoked: ${name}`, mayPass: SETTLES.has(name) };
  }
}

/** The class of a function error. Its message is left out: it may show what the function knows. */
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
