import { existsSync } from 'node:fs';
import {
  CloudFormationClient,
  CloudFormationServiceException,
  DescribeStacksCommand,
  type Stack,
} from '@aws-sdk/client-cloudformation';
import { CONFIG_PREFIX_SEPARATOR, loadConfig } from '@smithy/core/config';
import { clientSettings } from 'local-aws/aws-caller';
import { CommandError } from '../terminal/command-error.ts';
import { readJson } from '../terminal/files.ts';
import { NOT_RUNNING, OUTPUTS_FILE } from './local-folder.ts';
import { endpointOf, type Outputs, regionOf, Stage } from './stage.ts';

/** @throws CommandError if `npm start` does not run */
export function findLocalStack(): Stage {
  if (!existsSync(OUTPUTS_FILE)) throw new CommandError(NOT_RUNNING);
  return new Stage('the local stack', readOutputs(OUTPUTS_FILE));
}

/** Environment variables that make the AWS SDK use the stack that `npm start` runs. */
export function localEnvironment(outputs: { readonly QuarantineQueueUrl: string }): Record<string, string> {
  const { origin } = new URL(outputs.QuarantineQueueUrl);
  const { endpoint, region, credentials } = clientSettings(origin, 'operator');
  return {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
}

/**
 * The stack described by a file of `cdk deploy --outputs-file`, or the local stack.
 * @throws CommandError if the file does not describe exactly one stack of this app
 */
export function findStackOfFile(file: string, endpoint?: string): Stage {
  const outputs = readOutputs(file);
  const title = `the stack of ${file} ${placeOf(outputs, endpoint)}`;
  return new Stage(title, outputs, ` --outputs ${file}${endpointWords(endpoint)}`, endpoint);
}

/**
 * A deployed stage, from the outputs of its CloudFormation stack, with the usual AWS credentials and region.
 * @throws CommandError if the stage is not deployed
 */
export async function findStage(stage: string, endpoint?: string): Promise<Stage> {
  const client = new CloudFormationClient(endpoint === undefined ? {} : { endpoint });
  const StackName = `PartnerWebhooks-${stage}`;
  const region = await configuredRegion(client);
  let stack: Stack | undefined;
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName }));
    stack = Stacks?.[0];
  } catch (error) {
    // CloudFormation has no specific error for a stack that does not exist.
    if (!(error instanceof CloudFormationServiceException) || error.name !== 'ValidationError') throw error;
  } finally {
    client.destroy();
  }
  const outputs = Object.fromEntries(
    (stack?.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]),
  );
  if (!isOfThisApp(outputs)) {
    const found = stack ? `stack ${StackName} is ${stack.StackStatus}` : `there is no stack ${StackName}`;
    throw new CommandError(`Stage '${stage}' is not deployed in ${region}: ${found}`);
  }
  const title = `stage ${stage} ${placeOf(outputs, endpoint)}`;
  return new Stage(title, outputs, ` --stage ${stage}${endpointWords(endpoint)}`, endpoint);
}

const endpointWords = (endpoint?: string) => (endpoint === undefined ? '' : ` --endpoint ${endpoint}`);

/** What a command on a stage changes: `in eu-west-1, account 123456789012`, or `at http://localhost:4566`. */
function placeOf(outputs: Outputs, endpoint = endpointOf(outputs)): string {
  const [, account] = new URL(outputs.QuarantineQueueUrl ?? '').pathname.split('/');
  return endpoint === undefined ? `in ${regionOf(outputs)}, account ${account}` : `at ${endpoint}`;
}

/**
 * @throws CommandError if a setting sends calls of the AWS SDK to another endpoint than AWS, where the stage may be
 * another one. Source: AWS SDKs and tools reference guide, "Service-specific endpoints"
 */
export async function refuseRedirection(): Promise<void> {
  if (process.env.AWS_IGNORE_CONFIGURED_ENDPOINT_URLS === 'true') return;
  const load = loadConfig<string | undefined>({
    environmentVariableSelector: (env) => {
      const name = Object.keys(env).find((key) => /^AWS_ENDPOINT_URL(_|$)/.test(key) && env[key]);
      return name && `${name}=${env[name]}`;
    },
    configFileSelector: ({ endpoint_url, services }, config) => {
      const ofServices = Object.entries(config?.[`services${CONFIG_PREFIX_SEPARATOR}${services}`] ?? {});
      const [, url = endpoint_url] = ofServices.find(([name]) => name.endsWith('endpoint_url')) ?? [];
      return url && `endpoint_url = ${url} in the AWS profile`;
    },
    default: undefined,
  });
  const setting = await load();
  if (setting === undefined) return;
  throw new CommandError(
    `Calls to AWS go elsewhere: ${setting}. Remove this setting, or accept that endpoint with --endpoint <url>`,
  );
}

interface ConfiguredClient {
  readonly config: Pick<CloudFormationClient['config'], 'region' | 'credentials'>;
}

/** @throws CommandError that names everything missing: the region, the credentials */
export async function configuredRegion({ config }: ConfiguredClient): Promise<string> {
  const [region, credentials] = await Promise.allSettled([config.region(), config.credentials()]);
  const why = credentials.status === 'rejected' && String(credentials.reason.message).split('\n')[0];
  const missing = [
    ...(region.status === 'rejected'
      ? ['a region (set AWS_REGION, or AWS_PROFILE to a profile that has one)']
      : []),
    ...(why ? [`credentials (${why})`] : []),
  ];
  if (region.status === 'fulfilled' && missing.length === 0) return region.value;
  throw new CommandError(`AWS needs ${missing.join(' and ')}`);
}

const isOfThisApp = (outputs: Outputs) => URL.canParse(outputs.QuarantineQueueUrl ?? '');

function readOutputs(file: string): Outputs {
  const stacks = readJson(file) as Record<string, Outputs>;
  const outputs = Object.values(stacks).filter(isOfThisApp);
  if (outputs.length !== 1 || outputs[0] === undefined) {
    throw new CommandError(
      `${file} must have the outputs of one stack of this app, not of ${outputs.length}`,
    );
  }
  return outputs[0];
}
