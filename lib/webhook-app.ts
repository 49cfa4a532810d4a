import { Annotations, App, type AppProps, Validations } from 'aws-cdk-lib';
import { parseConfig, type StageConfig, stackNameOf } from './config.ts';
import { CONTEXT_KEYS, readContext } from './context.ts';
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
 * The CDK app of one stage. The context names it: see `context.ts`.
 * @returns the app, to be synthesised, and its bundles
 * @throws ConfigError
 * @throws BundleError if a function does not build
 */
export async function webhookApp({ bundles, ...props }: WebhookAppProps = {}): Promise<{
  app: App;
  bundles: string;
}> {
  const app = new App(props);
  const { stage, config, unread } = configure(app);
  const built = bundles ?? (await bundleFunctions(app.outdir));
  const stack = new PartnerWebhooksStack(app, stackNameOf(stage), {
    stage,
    config,
    bundles: built,
    description: 'Receives, verifies, queues and processes the events of the partner platform',
    env: {
      ...(config.account !== undefined && { account: config.account }),
      ...(config.region !== undefined && { region: config.region }),
    },
  });
  for (const key of unread) {
    Annotations.of(stack).addWarningV2(
      `partner-webhooks:unknown-context`,
      `The context ${key} is not read. The app reads: ${CONTEXT_KEYS.join(', ')}.`,
    );
  }
  if (String(app.node.tryGetContext('nag')) === 'true') {
    const { AwsSolutionsChecks, ServerlessChecks } = await import('cdk-nag');
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
  }
  return { app, bundles: built };
}

function configure(app: App): { stage: string; config: StageConfig; unread: readonly string[] } {
  const { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION: region } = process.env;
  try {
    const { stage, given, unread } = readContext(app.node.getAllContext());
    return { stage, config: parseConfig(stage, given, { account, region }), unread };
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}
