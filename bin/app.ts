import { BundleError } from '../lib/release/function-bundles.ts';
import { ConfigError, webhookApp } from '../lib/webhook-app.ts';

try {
  // The CDK synthesises the app when this process ends.
  await webhookApp();
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof BundleError)) throw error;
  // The message says what to fix. A stack trace would hide it.
  console.error(error.message);
  process.exit(1);
}
