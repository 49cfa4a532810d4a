import { Metrics } from '@aws-lambda-powertools/metrics';

/** CloudWatch namespace where the stack names none. */
const DEFAULT_NAMESPACE = 'PartnerWebhooks';

/** Imported on demand: a start has nothing to count, and most requests have not. */
export const metrics = new Metrics({
  namespace: process.env.POWERTOOLS_METRICS_NAMESPACE || DEFAULT_NAMESPACE,
});
