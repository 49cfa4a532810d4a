import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { warningIds } from '../../lib/config.ts';
import { stages } from '../../tools/generate/stages.ts';
import { stageAssembly } from './stage-assembly.ts';

interface ValidationReport {
  readonly pluginReports: readonly {
    readonly violations: readonly {
      readonly ruleName: string;
      readonly violatingConstructs: readonly { readonly constructPath?: string }[];
    }[];
  }[];
}

/** What cdk-nag and CloudFormation's own rules found, by rule and construct. */
async function findings(assembly: string): Promise<{ rule: string; path: string }[]> {
  const report: ValidationReport = JSON.parse(
    await readFile(join(assembly, 'validation-report.json'), 'utf8'),
  );
  return report.pluginReports.flatMap(({ violations }) =>
    violations.flatMap(({ ruleName, violatingConstructs }) =>
      violatingConstructs.map(({ constructPath = '' }) => ({ rule: ruleName, path: constructPath })),
    ),
  );
}

/** Warnings of our own. */
const isWarning = ({ rule }: { readonly rule: string }) => rule.startsWith('Annotation::partner-webhooks:');

test.each(Object.keys(stages))(
  'nothing is found in the stage %s that is not acknowledged',
  async (stage) => {
    const found = await findings(await stageAssembly(stage));
    expect(found.filter((finding) => !isWarning(finding))).toEqual([]);
  },
  120_000,
);

test('a stage that keeps its data and says nothing else is warned, and no other', async () => {
  const warned = await Promise.all(
    Object.keys(stages).map(async (stage) => {
      const rules = (await findings(await stageAssembly(stage))).filter(isWarning);
      return [stage, rules.map(({ rule }) => rule.split(':').at(-1)).sort()];
    }),
  );
  expect(Object.fromEntries(warned)).toEqual({
    dev: [],
    prod: warningIds.toSorted(),
    'every-setting': [],
    encrypted: warningIds.toSorted(),
  });
});

test('what is acknowledged is found where nothing is: the checks run, and no rule is acknowledged idly', async () => {
  const assemblies = [await stageAssembly('prod', false), await stageAssembly('every-setting', false)];
  const found = (await Promise.all(assemblies.map(findings))).flat().filter((finding) => !isWarning(finding));
  expect(new Set(found.map(({ rule }) => rule.replace(/\[.*/, '')))).toEqual(
    new Set([
      'AwsSolutions-APIG2',
      'AwsSolutions-APIG4',
      'AwsSolutions-APIG6',
      'AwsSolutions-COG4',
      'AwsSolutions-IAM5',
      'AwsSolutions-S1',
      'AwsSolutions-SMG4',
      'AwsSolutions-SQS3',
      'Serverless-APIGWXrayEnabled',
      'Serverless-LambdaDLQ',
      'Serverless-LambdaEventSourceMappingDestination',
      'Serverless-LambdaTracing',
      'Serverless-SNSRedrivePolicy',
      'Serverless-SQSRedrivePolicy',
    ]),
  );
});
