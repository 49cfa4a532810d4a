import { App } from 'aws-cdk-lib';
import { FunctionBundles } from '../lib/function-bundles.ts';
import { PartnerWebhooksStack } from '../lib/partner-webhooks-stack.ts';
import { stageConfig } from '../lib/stage.ts';

const app = new App();
const stage = app.node.tryGetContext('stage');

new PartnerWebhooksStack(app, `PartnerWebhooks-${stage}`, {
  config: stageConfig(stage),
  bundles: await FunctionBundles.build(app.outdir),
  description: 'Receives, verifies, queues and processes the events of the partner platform',
});
