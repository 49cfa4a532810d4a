import { startAwsEndpoint } from '../../local/aws/endpoint.ts';
import type { Faults } from '../../local/aws/faults.ts';
import { type ClientSettings, clientSettings } from '../../local/client-settings.ts';
import { deploy } from '../../local/deploy.ts';
import type { StackObserver } from '../../local/observation.ts';
import { readCloudAssembly } from '../../local/template/cloud-assembly.ts';
import { Resources } from '../../local/template/resources.ts';
import { TEST_SECRET, testAssembly } from './test-stack.ts';

/** The stack's resources and roles at an AWS endpoint, without anything that uses them. */
export interface TestAws {
  readonly outputs: Readonly<Record<string, string>>;
  /** Settings for a client that may do everything. */
  readonly operator: ClientSettings;
  close(): Promise<void>;
}

/**
 * Serves the stack's resources, for tests of code that talks to them.
 * @param faults what goes wrong. @default nothing
 * @param observer told what is written and published. @default nobody
 */
export async function startTestAws(
  faults?: Faults,
  observer?: Pick<StackObserver, 'onRow' | 'onNotification'>,
): Promise<TestAws> {
  const region = 'us-east-1';
  const accountId = '000000000000';
  const aws = await startAwsEndpoint({
    port: 0,
    region,
    ...(faults && { faults }),
    ...(observer && { observer }),
  });
  const resources = new Resources(readCloudAssembly(testAssembly()), {
    region,
    accountId,
    awsUrl: aws.url,
    apiUrl: 'http://localhost',
  });
  const operator = clientSettings(aws.url, 'operator');
  await deploy(resources, aws, TEST_SECRET);
  return { outputs: resources.outputs(), operator, close: () => aws.close() };
}
