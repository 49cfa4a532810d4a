import { type ClientSettings, clientSettings } from 'local-aws/aws-caller';
import { readCloudAssembly } from 'local-aws/cloud-assembly';
import { deploy } from 'local-aws/deploy';
import { type AwsEndpoint, startAwsEndpoint } from 'local-aws/endpoint';
import type { InjectedFaults } from 'local-aws/faults';
import type { StackObserver } from 'local-aws/observation';
import { Resources } from 'local-aws/resources';
import { TEST_SECRET } from './partner.ts';
import { testAssembly } from './test-assembly.ts';

/** The stack's resources and roles at an AWS endpoint, without functions or gateway. */
export interface TestAws {
  readonly outputs: Readonly<Record<string, string>>;
  /** Settings for a client with all permissions. */
  readonly operator: ClientSettings;
  readonly addPrincipals: AwsEndpoint['addPrincipals'];
  close(): Promise<void>;
}

/**
 * Serves the stack's resources, for tests of code that calls them.
 * @param faults to inject. @default none
 * @param observer called with written and published data. @default none
 */
export async function startTestAws(
  faults?: InjectedFaults,
  observer?: Pick<StackObserver, 'onItemChange' | 'onNotification'>,
): Promise<TestAws> {
  const aws = await startAwsEndpoint({ port: 0, faults, observer });
  const resources = new Resources(readCloudAssembly(testAssembly()), {
    awsUrl: aws.url,
    apiUrl: 'http://localhost',
  });
  const operator = clientSettings(aws.url, 'operator');
  await deploy(resources, aws, TEST_SECRET);
  return {
    outputs: resources.outputs(),
    operator,
    addPrincipals: aws.addPrincipals,
    close: () => aws.close(),
  };
}
