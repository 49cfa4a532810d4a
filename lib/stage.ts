import { Duration, RemovalPolicy } from 'aws-cdk-lib';

/** What differs from stage to stage. */
export interface StageConfig {
  /** What becomes of tables, queues, the secret and log groups when their stack is deleted. */
  readonly removalPolicy: RemovalPolicy;
  /** Refuses to delete the stack. */
  readonly terminationProtection: boolean;
  /** How long after a rotation of the secret the previous one is accepted (design D12). */
  readonly rotationGrace: Duration;
}

const ROTATION_GRACE = Duration.hours(24);

const stages: Readonly<Record<string, StageConfig>> = {
  dev: { removalPolicy: RemovalPolicy.DESTROY, terminationProtection: false, rotationGrace: ROTATION_GRACE },
  prod: { removalPolicy: RemovalPolicy.RETAIN, terminationProtection: true, rotationGrace: ROTATION_GRACE },
};

/**
 * The configuration of a stage, by the name given with `-c stage=NAME`.
 * @throws Error naming the stages that exist
 */
export function stageConfig(name: unknown): StageConfig {
  const config = typeof name === 'string' && Object.hasOwn(stages, name) ? stages[name] : undefined;
  if (!config) {
    throw new Error(
      `No stage '${String(name)}'. Use -c stage=NAME with one of: ${Object.keys(stages).join(', ')}`,
    );
  }
  return config;
}
