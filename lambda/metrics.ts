import { Metrics } from '@aws-lambda-powertools/metrics';

/** CloudWatch namespace if the stack sets none. */
const DEFAULT_NAMESPACE = 'PartnerWebhooks';

/** The library that publishes metrics. Imported on demand, because most requests count nothing. */
export const metrics = new Metrics({
  namespace: process.env.POWERTOOLS_METRICS_NAMESPACE || DEFAULT_NAMESPACE,
});
