import { stages } from '../../tools/generate/stages.ts';
import { sharedAssembly } from '../support/shared-assembly.ts';

/**
 * The cloud assembly of one of `stages`, synthesised with cdk-nag's checks by the first test file that asks for it.
 * What the checks find does not end the synthesis: it stands in the assembly's validation report.
 * @param acknowledge whether findings that the code acknowledges are left out of the report
 * @returns its folder
 */
export function stageAssembly(stage: string, acknowledge = true): Promise<string> {
  return sharedAssembly(acknowledge ? stage : `${stage}-unacknowledged`, {
    stage,
    stages,
    nag: true,
    acknowledge,
    '@aws-cdk/core:failSynthOnValidationErrors': false,
  });
}
