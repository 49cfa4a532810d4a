import { expect } from '@jest/globals';
import { SynthesisedTemplate, type TemplateResource } from 'local-aws/template';
import { stages } from '../../bin/stages.ts';
import { sharedAssembly } from '../support/test-assembly.ts';

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
  return sharedAssembly(acknowledge ? stage : `${stage}-unacknowledged`, overrides);
}

/** The template of one of `stages`. */
export async function stageTemplate(stage: string): Promise<SynthesisedTemplate> {
  return new SynthesisedTemplate(await stageAssembly(stage));
}

/** The properties of the one resource of a type. */
export function only(template: SynthesisedTemplate, type: string): TemplateResource['properties'] {
  const [resource, ...others] = template.ofType(type);
  expect(others).toEqual([]);
  return resource?.properties;
}

export interface StageResource extends TemplateResource {
  readonly stage: string;
  readonly template: SynthesisedTemplate;
}

export async function resourcesOfEveryStage(): Promise<StageResource[]> {
  const resources = await Promise.all(
    Object.keys(stages).map(async (stage) => {
      const template = await stageTemplate(stage);
      return template.resources.map((resource) => ({ ...resource, stage, template }));
    }),
  );
  return resources.flat();
}
