import { App, Validations } from 'aws-cdk-lib';
import { findStage, parseConfig, type StageConfig } from '../lib/config.ts';
import { BundleError, FunctionBundles } from '../lib/function-bundles.ts';
import { PartnerWebhooksStack } from '../lib/partner-webhooks-stack.ts';

const app = new App();
const stage = app.node.tryGetContext('stage');
const { CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION } = process.env;
const config = configure();
const bundles = await FunctionBundles.build(app.outdir).catch((error: unknown) => {
  if (error instanceof BundleError) refuse(error.message);
  throw error;
});

function configure(): StageConfig {
  try {
    return parseConfig(stage, findStage(app.node.tryGetContext('stages'), stage), {
      account: CDK_DEFAULT_ACCOUNT,
      region: CDK_DEFAULT_REGION,
    });
  } catch (error) {
    refuse((error as Error).message);
  }
}

/** For whoever has to mend it: what is wrong, and no stack trace below. */
function refuse(message: string): never {
  console.error(message);
  process.exit(1);
}

new PartnerWebhooksStack(app, `PartnerWebhooks-${stage}`, {
  stage,
  config,
  bundles,
  description: 'Receives, verifies, queues and processes the events of the partner platform',
  env: {
    ...(config.account !== undefined && { account: config.account }),
    ...(config.region !== undefined && { region: config.region }),
  },
});

if (String(app.node.tryGetContext('nag')) === 'true') {
  const { AwsSolutionsChecks, ServerlessChecks } = await import('cdk-nag');
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
}
