import { App } from 'aws-cdk-lib';
import { ReviewSubscriber } from './stack.ts';

const app = new App();
const context = (name: string): string | undefined => app.node.tryGetContext(name);

const topicArn = context('topicArn');
if (topicArn === undefined) {
  console.error('Say which topic: -c topicArn=… with ReviewTopicArn of the webhook stack’s outputs');
  process.exit(1);
}
const shops = context('shops')?.split(',');
new ReviewSubscriber(app, 'ReviewSubscriber', {
  topicArn,
  ...(shops && { shops }),
  replays: context('replays') !== 'false',
});
