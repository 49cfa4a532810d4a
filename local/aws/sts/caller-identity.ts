import { AwsError } from '../aws-error.ts';
import { type AwsResponse, queryResponse } from '../response.ts';
import { element } from '../xml.ts';

/** STS's GetCallerIdentity, which is the whole of STS here. */
export function callerIdentity(operation: string, accountId: string, callerArn: string): AwsResponse {
  if (operation !== 'GetCallerIdentity') {
    throw new AwsError(
      'InvalidAction',
      `The local AWS endpoint answers STS's GetCallerIdentity only, not ${operation}.`,
    );
  }
  return queryResponse(
    'sts',
    operation,
    element('Arn', callerArn) + element('UserId', accountId) + element('Account', accountId),
  );
}
