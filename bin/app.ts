import '../check-node.js';

import { BundleError } from '../lib/release/function-bundles.ts';
import { ConfigError, webhookApp } from '../lib/webhook-app.ts';

try {
  // It is synthesised when this process ends.
  await webhookApp();
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof BundleError)) throw error;
  // For whoever has to mend it: what is wrong, and no stack trace below.
  console.error(error.message);
  process.exit(1);
}
