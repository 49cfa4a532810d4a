import type { CloudFormationCustomResourceEvent } from 'aws-lambda';

/** Never another: with a new one CloudFormation would take an update for a replacement. */
const PHYSICAL_RESOURCE_ID = 'smoke-test';

/**
 * Longest reason, in characters. The whole answer may have 4,096 bytes. Source: CloudFormation user guide,
 * "Custom resource response objects".
 */
const MAXIMUM_REASON_LENGTH = 1500;

/**
 * Tells CloudFormation how a request to a custom resource ended.
 * @param failure the reason, where it failed
 * @throws Error where CloudFormation has not taken the answer: Lambda then has the request carried out again
 */
export async function answer(
  { StackId, RequestId, LogicalResourceId, ResponseURL }: CloudFormationCustomResourceEvent,
  failure: string | undefined,
): Promise<void> {
  const response = await fetch(ResponseURL, {
    method: 'PUT',
    // The URL is signed for none.
    headers: { 'content-type': '' },
    body: JSON.stringify({
      Status: failure === undefined ? 'SUCCESS' : 'FAILED',
      ...(failure !== undefined && { Reason: failure.slice(0, MAXIMUM_REASON_LENGTH) }),
      PhysicalResourceId: PHYSICAL_RESOURCE_ID,
      StackId,
      RequestId,
      LogicalResourceId,
    }),
  });
  if (!response.ok) throw new Error(`CloudFormation refused the answer with ${response.status}`);
}
