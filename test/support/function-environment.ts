import type { Context, SQSEvent } from 'aws-lambda';
import { attribute, stringAttribute } from '../../lambda/queue/message.ts';
import type { Replay } from '../../lambda/queue/replay.ts';
import { accessKeyOf } from '../../local/client-settings.ts';
import { readCloudAssembly } from '../../local/template/cloud-assembly.ts';
import { Resources } from '../../local/template/resources.ts';
import type { TestAws } from './test-aws.ts';
import { testAssembly } from './test-stack.ts';

/**
 * The environment that the template gives a function, and an access key.
 * Nothing is logged, and addresses are of 127.0.0.1: the S3 client makes no host names of it.
 * @param service the function's name in log lines, such as `receiver`
 * @param caller whose access key it is: only what a role does is observed. @default an operator's
 */
export function functionEnvironment(
  service: string,
  { outputs, operator }: Pick<TestAws, 'outputs' | 'operator'>,
  caller: 'operator' | 'role' = 'operator',
): Record<string, string> {
  const awsUrl = operator.endpoint.replace('localhost', '127.0.0.1');
  const resources = new Resources(readCloudAssembly(testAssembly()), {
    region: operator.region,
    accountId: '000000000000',
    awsUrl,
    apiUrl: 'http://localhost',
  });
  for (const { logicalId } of resources.ofType('AWS::SecretsManager::Secret')) {
    resources.setSecretArn(logicalId, outputs.WebhookSecretArn ?? '');
  }
  const definition = resources
    .ofType('AWS::Lambda::Function')
    .map(({ properties }) => properties)
    .find(({ Environment }) => Environment.Variables.POWERTOOLS_SERVICE_NAME === service);
  return {
    ...definition?.Environment.Variables,
    AWS_REGION: operator.region,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_ACCESS_KEY_ID:
      caller === 'role' ? accessKeyOf(definition?.Role ?? '') : operator.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: operator.credentials.secretAccessKey,
    AWS_ENDPOINT_URL: awsUrl,
    AWS_ENDPOINT_URL_S3: awsUrl,
    POWERTOOLS_LOG_LEVEL: 'SILENT',
    POWERTOOLS_METRICS_DISABLED: 'true',
  };
}

/** What Lambda tells a consumer of its invocation, which has half a minute left. */
export const consumerContext = {
  functionName: 'consumer',
  memoryLimitInMB: '512',
  invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:consumer',
  awsRequestId: 'request',
  getRemainingTimeInMillis: () => 30_000,
} as Context;

/** A batch as a replay sends it; of a delivery (undefined) as it is. */
export function replayedBy(replay: Replay | undefined, event: SQSEvent): SQSEvent {
  if (replay === undefined) return event;
  const { DataType: dataType, StringValue: stringValue } = stringAttribute(JSON.stringify(replay));
  return {
    Records: event.Records.map((record) => ({
      ...record,
      messageAttributes: { ...record.messageAttributes, [attribute.replay]: { dataType, stringValue } },
    })),
  };
}
