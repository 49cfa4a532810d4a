import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig, type StageConfig } from '../../lib/config.ts';
import { readCloudAssembly } from '../local/template/cloud-assembly.ts';
import { readContext, synthesise } from '../local/template/synthesise.ts';
import { UsageError } from '../terminal/command-error.ts';

/** A stage's settings, and the number of its resources that have a monthly price. */
export interface Deployment extends StageConfig {
  readonly alarms: number;
  readonly dashboards: number;
  /** Custom metrics that are published if all events are accepted and processed. */
  readonly customMetrics: number;
  readonly secrets: number;
  readonly keys: number;
}

/** Metrics of the stack that log filters count from lines about successes: Verified, DeliveryLag, EffectLatency. */
const METRICS_OF_SUCCESS = 3;

/**
 * Synthesises a stage of `cdk.json`, and counts its resources.
 * @throws CommandError if there is no such stage
 */
export async function deploymentOf(stage: string): Promise<Deployment> {
  const { stages } = readContext();
  if (!Object.hasOwn(stages, stage)) {
    throw new UsageError(`cdk.json has no stage '${stage}', only ${Object.keys(stages).join(', ')}`);
  }
  await using folder = await mkdtempDisposable(join(tmpdir(), 'cost-'));
  await synthesise(folder.path, { stage });
  const deployment = deployed(parseConfig(stage, stages[stage]), folder.path);
  return deployment;
}

/** @param assembly folder of the stage's cloud assembly */
export function deployed(config: StageConfig, assembly: string): Deployment {
  const resources = Object.values(readCloudAssembly(assembly).template.Resources);
  const numberOf = (type: string) => resources.filter(({ Type }) => Type === type).length;
  return {
    ...config,
    alarms: numberOf('AWS::CloudWatch::Alarm'),
    dashboards: numberOf('AWS::CloudWatch::Dashboard'),
    customMetrics: METRICS_OF_SUCCESS,
    secrets: numberOf('AWS::SecretsManager::Secret'),
    keys: numberOf('AWS::KMS::Key'),
  };
}
