import { expect } from '@jest/globals';
import { type Statement, SynthesisedTemplate, type TemplateResource } from 'local-aws/synthesised-template';
import { stages } from '../../bin/stages.ts';
import { sharedAssembly } from '../support/test-assembly.ts';

/** Stages that are checked against CloudFormation's rules, which takes 4 s. The others add no kind of resource. */
const VALIDATED = ['prod', 'every-setting'];

/**
 * The cloud assembly of one of `stages`. The first test file that needs it synthesises it with cdk-nag's checks.
 * Findings do not end the synthesis: they are in the assembly's validation report.
 * @param acknowledge whether the report omits findings that the code acknowledges
 * @returns its folder
 */
export function stageAssembly(stage: string, acknowledge = true): Promise<string> {
  const overrides = {
    stage,
    stages,
    nag: true,
    acknowledge,
    '@aws-cdk/core:failSynthOnValidationErrors': false,
  };
  const name = acknowledge ? stage : `${stage}-unacknowledged`;
  return sharedAssembly(name, overrides, acknowledge && VALIDATED.includes(stage));
}

/** The template of one of `stages`. */
export async function stageTemplate(stage: string): Promise<SynthesisedTemplate> {
  return new SynthesisedTemplate(await stageAssembly(stage));
}

/** The template of a stage with some settings of its own, which is not checked. */
export async function templateOf(name: string, settings: object): Promise<SynthesisedTemplate> {
  const overrides = { stage: name, stages: { [name]: settings } };
  return new SynthesisedTemplate(await sharedAssembly(name, overrides, false));
}

/** The properties of the one resource of a type. */
export function only(template: SynthesisedTemplate, type: string): TemplateResource['properties'] {
  const [resource, ...others] = template.ofType(type);
  expect(others).toEqual([]);
  return resource?.properties;
}

/** The path of the function behind an alias, by any reference to the alias. */
export function functionBehind(template: SynthesisedTemplate, reference: unknown): string {
  const alias = template
    .ofType('AWS::Lambda::Alias')
    .find(({ logicalId }) => JSON.stringify(reference).includes(`{"Ref":"${logicalId}"}`));
  return template.referred(alias?.properties.FunctionName);
}

/** The statements of the resource policies of a queue, a topic or a bucket. */
export function resourcePolicyOf(template: SynthesisedTemplate, target: TemplateResource): Statement[] {
  return template
    .ofType(`${target.type}Policy`)
    .filter(({ properties: { Queues, Topics, Bucket } }) =>
      (Queues ?? Topics ?? [Bucket]).some((one: unknown) => template.referred(one) === target.path),
    )
    .flatMap(({ properties }) => properties.PolicyDocument.Statement);
}

export interface StageResource extends TemplateResource {
  readonly stage: string;
  readonly template: SynthesisedTemplate;
}

/** The resources of all stages, for rules that hold in each. */
export async function everyStage() {
  const resources = await Promise.all(
    Object.keys(stages).map(async (stage) => {
      const template = await stageTemplate(stage);
      return template.resources.map((resource): StageResource => ({ ...resource, stage, template }));
    }),
  );
  function ofType(type: string): StageResource[] {
    const found = resources.flat().filter((resource) => resource.type === type);
    if (found.length === 0) throw new Error(`No stage has a resource of the type ${type}`);
    return found;
  }
  /** The resources of a type that break a rule. */
  const breaking = (type: string, rule: (resource: StageResource) => boolean) =>
    ofType(type)
      .filter((resource) => !rule(resource))
      .map(({ stage, path }) => `${stage} ${path}`);
  return { ofType, breaking };
}
