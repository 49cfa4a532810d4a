import { LambdaClient } from '@aws-sdk/client-lambda';
import type { CloudFormationCustomResourceEvent, Context } from 'aws-lambda';
import { answer } from './answer.ts';
import { check } from './invoke.ts';
import { goesBack, readProbes } from './probes.ts';

/** In milliseconds: a probe takes a few seconds at the worst, and Lambda gives a start 10 s. */
const INVOCATION_TIMEOUT = 45_000;

/** Milliseconds before this function's own time-out at which it stops: time to answer CloudFormation. */
const ANSWER_MARGIN = 5_000;

const client = new LambdaClient({
  maxAttempts: 3,
  requestHandler: {
    connectionTimeout: 1_000,
    requestTimeout: INVOCATION_TIMEOUT,
    throwOnRequestTimeout: true,
  },
});

/**
 * The custom resource on which the functions' aliases depend: it proves of each new version that its code
 * loads and its environment is complete, and of the receiver that it can read the secret. Where one does
 * not, the deployment is rolled back before the version gets traffic. Nothing that it sends has an effect.
 */
export async function handler(event: CloudFormationCustomResourceEvent, context: Context): Promise<void> {
  const limit = Math.max(0, context.getRemainingTimeInMillis() - ANSWER_MARGIN);
  const failure = bringsNothingNew(event)
    ? undefined
    : await smokeTest(event.ResourceProperties, AbortSignal.timeout(limit));
  await answer(event, failure);
}

function bringsNothingNew(event: CloudFormationCustomResourceEvent): boolean {
  if (event.RequestType === 'Delete') return true;
  return event.RequestType === 'Update' && goesBack(event.ResourceProperties, event.OldResourceProperties);
}

/** @returns everything that is wrong, in one line; undefined where nothing is */
async function smokeTest(properties: unknown, outOfTime: AbortSignal): Promise<string | undefined> {
  try {
    const probes = readProbes(properties);
    const found = await Promise.all(probes.map((probe) => check(client, probe, outOfTime)));
    return found.filter((problem) => problem !== undefined).join('; ') || undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'The smoke test itself failed';
  }
}
