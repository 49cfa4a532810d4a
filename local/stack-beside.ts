import type { AwsEndpoint } from './aws/endpoint.ts';
import { type ClientSettings, createAlarms, deploy } from './deploy.ts';
import { DeployedFunctions, type FunctionOptions } from './deployed-functions.ts';
import { startEventSources } from './deployed-sources.ts';
import { admitRoles } from './roles.ts';
import { readCloudAssembly } from './template/cloud-assembly.ts';
import { type Place, Resources } from './template/resources.ts';

/** What a stack beside another one shares with it. */
export interface Neighbourhood {
  readonly aws: AwsEndpoint;
  readonly place: Place;
  readonly operator: ClientSettings;
  readonly secret: string;
  readonly onProblem: (message: string) => void;
}

/** A stack of others, which uses what this one has: a subscriber of its topics. */
export interface StackBeside {
  readonly name: string;
  /** As `cdk deploy --outputs-file` writes them. */
  readonly outputs: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/**
 * Runs a synthesised stack at the AWS endpoint of another one. It has functions on queues, and no API.
 * @param assembly folder of its cloud assembly
 * @throws Error where the template has what cannot be run here
 */
export async function startBeside(
  assembly: string,
  { aws, place, operator, secret, onProblem }: Neighbourhood,
  options: FunctionOptions,
): Promise<StackBeside> {
  const stack = readCloudAssembly(assembly);
  const resources = new Resources(stack, place);
  for (const type of resources.unknownTypes()) onProblem(`${type} has no part in the local stack`);
  await deploy(resources, operator, { secret });
  createAlarms(resources, aws);
  admitRoles(resources, aws);
  const functions = new DeployedFunctions(aws, options);
  try {
    await functions.add(resources, stack);
    const mappings = resources.ofType('AWS::Lambda::EventSourceMapping');
    const sources = startEventSources(mappings, resources, { functions, aws, onProblem });
    return {
      name: stack.name,
      outputs: resources.outputs(),
      async close() {
        await Promise.all(sources.map((source) => source.stop()));
        await functions.close();
      },
    };
  } catch (error) {
    await functions.close();
    throw error;
  }
}
