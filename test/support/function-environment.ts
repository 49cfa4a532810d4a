import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { accessKeyOf } from 'local-aws/aws-caller';
import { readCloudAssembly } from 'local-aws/cloud-assembly';
import { Resources } from 'local-aws/resources';
import { attribute, stringAttribute } from '../../lambda/queue/message.ts';
import type { Replay } from '../../lambda/queue/replay.ts';
import { testAssembly } from './test-assembly.ts';
import type { TestAws } from './test-aws.ts';

// Log lines of functions in this process would be mixed with Jest's output.
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (text: string | Uint8Array) => /^\{"(level|_aws)"/.test(String(text)) || write(text);

/**
 * A function's environment from the template, and an access key. Addresses use 127.0.0.1, with which the S3 client does
 * not make host names.
 * @param service the function's name in log lines, such as `receiver`
 * @param caller the owner of the access key: only calls by a role are observed. @default an operator
 */
export function functionEnvironment(
  service: string,
  { outputs, operator }: Pick<TestAws, 'outputs' | 'operator'>,
  caller: 'operator' | 'role' = 'operator',
): Record<string, string> {
  const awsUrl = operator.endpoint.replace('localhost', '127.0.0.1');
  const resources = new Resources(readCloudAssembly(testAssembly()), {
    awsUrl,
    apiUrl: 'http://localhost',
  });
  for (const { logicalId } of resources.ofType('AWS::SecretsManager::Secret')) {
    resources.setSecretArn(logicalId, outputs.WebhookSecretArn ?? '');
  }
  const definition = resources
    .ofType('AWS::Lambda::Function')
    .map(({ properties }) => properties)
    .find(({ Environment }) => Environment?.Variables?.POWERTOOLS_SERVICE_NAME === service);
  return {
    ...definition?.Environment?.Variables,
    AWS_REGION: operator.region,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_ACCESS_KEY_ID:
      caller === 'role' ? accessKeyOf(definition?.Role ?? '') : operator.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: operator.credentials.secretAccessKey,
    AWS_ENDPOINT_URL: awsUrl,
    AWS_ENDPOINT_URL_S3: awsUrl,
  };
}

export type ConsumerHandler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

/** Lambda context of a consumer with half a minute left. */
export const consumerContext = {
  functionName: 'consumer',
  memoryLimitInMB: '512',
  invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:consumer',
  awsRequestId: 'request',
  getRemainingTimeInMillis: () => 30_000,
} as Context;

/** The batch as a replay sends it. Unchanged if there is no replay. */
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
