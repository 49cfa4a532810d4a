import { readCloudAssembly } from '../../local/template/cloud-assembly.ts';
import { Resources } from '../../local/template/resources.ts';
import type { TestAws } from './test-aws.ts';
import { testAssembly } from './test-stack.ts';

/**
 * The environment that the template gives a function, and an operator's access key.
 * Nothing is logged, and addresses are of 127.0.0.1: the S3 client makes no host names of it.
 * @param service the function's name in log lines, such as `receiver`
 */
export function functionEnvironment(
  service: string,
  { outputs, operator }: Pick<TestAws, 'outputs' | 'operator'>,
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
  const environments = resources
    .ofType('AWS::Lambda::Function')
    .map(({ properties }) => properties.Environment.Variables);
  return {
    ...environments.find(({ POWERTOOLS_SERVICE_NAME }) => POWERTOOLS_SERVICE_NAME === service),
    AWS_REGION: operator.region,
    AWS_ACCESS_KEY_ID: operator.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: operator.credentials.secretAccessKey,
    AWS_ENDPOINT_URL: awsUrl,
    AWS_ENDPOINT_URL_S3: awsUrl,
    POWERTOOLS_LOG_LEVEL: 'SILENT',
    POWERTOOLS_METRICS_DISABLED: 'true',
  };
}
