import type { DomainName } from 'aws-cdk-lib/aws-apigatewayv2';
import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IFilterPattern } from 'aws-cdk-lib/aws-logs';
import type { StageConfig } from '../config.ts';
import type { AccessLog } from './access-log.ts';

/** What either kind of API is made of. */
export interface GatewayProps {
  readonly receiver: IFunction;
  readonly throttle: StageConfig['apiThrottle'];
  readonly accessLog: AccessLog;
  /** Whether the API is reached at its own address, besides a host name. */
  readonly defaultEndpoint: boolean;
}

/** API Gateway's own metrics of an API. */
export interface GatewayMetrics {
  metricCount(options: MetricOptions): Metric;
  metricClientError(options: MetricOptions): Metric;
  metricServerError(options: MetricOptions): Metric;
  metricLatency(options: MetricOptions): Metric;
}

/** What API Gateway answers by itself. None of it is kept. */
export type OwnAnswer = 'throttled' | 'unavailable' | 'tooLarge' | 'wrongAddress';

/** An API with the contract's one route, whichever its kind. */
export interface Gateway {
  readonly kind: StageConfig['gateway'];
  /** What the partner posts to where there is no host name. @throws Error where the default endpoint is off */
  readonly webhookUrl: string;
  readonly metrics: GatewayMetrics;
  /** To its page in the console. */
  readonly link: string;
  /** By what the access log shows API Gateway's own answers. */
  readonly shows: Readonly<Record<OwnAnswer, IFilterPattern>>;
  /** Serves the API under a host name, at the contract's path. */
  serveAt(domainName: DomainName): void;
}
