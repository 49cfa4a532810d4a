import { Annotations, App, type AppProps, Validations } from 'aws-cdk-lib';
import { tooLongDescriptions } from './alarms/alarm-description.ts';
import { findStage, parseConfig, type StageConfig, stackNameOf } from './config.ts';
import { didYouMean, nearest } from './did-you-mean.ts';
import { PartnerWebhooksStack } from './partner-webhooks-stack.ts';
import { bundleFunctions } from './release/function-bundles.ts';

/** The configuration of a stage is invalid. The message says why. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

interface WebhookAppProps extends AppProps {
  /** Folder with the functions' code, if it is built already. @default the functions are built */
  readonly bundles?: string | undefined;
}

/**
 * Keys of the CDK context that the app reads: the stage, the settings of all stages, whether to run cdk-nag, and
 * whether to hide its findings that the code acknowledges.
 */
const CONTEXT_KEYS = ['stage', 'stages', 'nag', 'acknowledge'];

/**
 * Keys of CDK itself: feature flags, settings of the CLI, and cached lookups such as `availability-zones:account=…`.
 */
const OF_CDK = /[:/]|^(aws|cdk)/;

/**
 * The CDK app of one stage. The context names it: see {@link CONTEXT_KEYS}.
 * @returns the app, to be synthesised, and its bundles
 * @throws ConfigError
 * @throws BundleError if a function does not build
 */
export async function webhookApp({ bundles, ...props }: WebhookAppProps = {}): Promise<{
  app: App;
  bundles: string;
}> {
  const app = new App(props);
  const unknownKeys = unknownContextKeys(Object.keys(app.node.getAllContext()));
  const stage = app.node.tryGetContext('stage');
  const config = configure(app, stage);
  const built = bundles ?? (await bundleFunctions(app.outdir));
  const stack = new PartnerWebhooksStack(app, stackNameOf(String(stage)), {
    stage,
    config,
    bundles: built,
    description: 'Receives, verifies, queues and processes the events of the partner platform',
    env: {
      ...(config.account !== undefined && { account: config.account }),
      ...(config.region !== undefined && { region: config.region }),
    },
  });
  for (const key of unknownKeys) {
    Annotations.of(stack).addWarningV2(
      `partner-webhooks:unknown-context`,
      `The context ${key} is not read. The app reads: ${CONTEXT_KEYS.join(', ')}.`,
    );
  }
  const tooLong = tooLongDescriptions(stack);
  if (tooLong !== undefined) throw new ConfigError(tooLong);
  if (String(app.node.tryGetContext('nag')) === 'true') {
    const { AwsSolutionsChecks, ServerlessChecks } = await import('cdk-nag');
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
  }
  return { app, bundles: built };
}

/**
 * Keys of the context that neither the app nor CDK reads. They may be another project's, from `~/.cdk.json`.
 * @throws ConfigError if a key looks like a misspelled one: the wrong stage would be synthesised
 */
export function unknownContextKeys(keys: readonly string[]): string[] {
  const unknown = keys.filter((key) => !CONTEXT_KEYS.includes(key) && !OF_CDK.test(key));
  const misspelled = unknown.find((key) => nearest(key, CONTEXT_KEYS) !== undefined);
  if (misspelled === undefined) return unknown;
  throw new ConfigError(`Unknown context '${misspelled}'.${didYouMean(misspelled, CONTEXT_KEYS)}`);
}

function configure(app: App, stage: unknown): StageConfig {
  const { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION: region } = process.env;
  try {
    const given = findStage(app.node.tryGetContext('stages'), stage);
    return parseConfig(String(stage), given, { account, region });
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}
