import type { Context } from 'aws-lambda';

/** What Lambda tells a consumer of its invocation, which has half a minute left. */
export const consumerContext = {
  functionName: 'consumer',
  memoryLimitInMB: '512',
  invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:consumer',
  awsRequestId: 'request',
  getRemainingTimeInMillis: () => 30_000,
} as Context;
