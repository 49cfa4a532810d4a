import { AwsError } from './errors.ts';
import { type JsonObject, textOf } from './json.ts';
import type { Operations } from './service-forms.ts';

/** A stack that runs on this machine, as CloudFormation describes it. */
export interface RunningStack {
  readonly name: string;
  readonly id: string;
  readonly template: object;
  /** In the form of `ListStackResources`. */
  readonly resources: readonly JsonObject[];
  /** Outputs by name. A function, because the API's address is known only when the API listens. */
  readonly outputs: () => Readonly<Record<string, string>>;
}

export function createStacks() {
  const stacks = new Map<string, RunningStack>();
  const startedAt = Date.now() / 1000;

  function named(parameters: JsonObject): RunningStack {
    const name = textOf(parameters, 'StackName') ?? '';
    const stack = stacks.get(name);
    if (stack !== undefined) return stack;
    throw new AwsError('ValidationError', `Stack with id ${name} does not exist`);
  }

  return {
    add: (stack: RunningStack) => void stacks.set(stack.name, stack),
    operations: {
      DescribeStacks(parameters) {
        const { name, id, outputs } = named(parameters);
        const Outputs = Object.entries(outputs()).map(([OutputKey, OutputValue]) => ({
          OutputKey,
          OutputValue,
        }));
        const StackStatus = 'CREATE_COMPLETE';
        const CreationTime = new Date(startedAt * 1000).toISOString();
        return { Stacks: [{ StackName: name, StackId: id, CreationTime, StackStatus, Outputs }] };
      },

      ListStackResources: (parameters) => ({
        StackResourceSummaries: named(parameters).resources.map((resource) => ({
          ...resource,
          ResourceStatus: 'CREATE_COMPLETE',
          LastUpdatedTimestamp: startedAt,
        })),
      }),

      GetTemplate: (parameters) => ({ TemplateBody: JSON.stringify(named(parameters).template) }),
    } satisfies Operations,
  };
}
