import { App, type AppProps, Validations } from 'aws-cdk-lib';
import { tooLongDescriptions } from './alarms/alarm-description.ts';
import { findStage, parseConfig, type StageConfig, stackNameOf } from './config.ts';
import { PartnerWebhooksStack } from './partner-webhooks-stack.ts';
import { bundleFunctions } from './release/function-bundles.ts';

/** The configuration of a stage is invalid. The message says why. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

interface WebhookAppProps extends AppProps {
  /** Folder with the functions' code, if it is built already. @default it is built */
  readonly bundles?: string | undefined;
}

/**
 * The CDK app of one stage. The context names it: `stage`, `stages`, and `nag` for the checks of cdk-nag.
 * @returns the app, to be synthesised, and its bundles
 * @throws ConfigError
 * @throws BundleError if a function does not build
 */
export async function webhookApp({ bundles, ...props }: WebhookAppProps = {}): Promise<{
  app: App;
  bundles: string;
}> {
  const app = new App(props);
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
  const tooLong = tooLongDescriptions(stack);
  if (tooLong !== undefined) throw new ConfigError(tooLong);
  if (String(app.node.tryGetContext('nag')) === 'true') {
    const { AwsSolutionsChecks, ServerlessChecks } = await import('cdk-nag');
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
  }
  return { app, bundles: built };
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
