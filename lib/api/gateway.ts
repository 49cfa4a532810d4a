import type { DomainName } from 'aws-cdk-lib/aws-apigatewayv2';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IFilterPattern } from 'aws-cdk-lib/aws-logs';
import type { MetricSource } from '../alarms/log-metrics.ts';
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

/** What API Gateway answers by itself. None of it is kept. */
export type OwnAnswer = 'Throttled' | 'Unavailable' | 'TooLarge' | 'WrongAddress';

/** An API with the contract's one route, whichever its kind. */
export interface Gateway {
  readonly kind: StageConfig['gateway'];
  /** What the partner posts to if there is no host name. @throws Error if the default endpoint is off */
  readonly webhookUrl: string;
  /** API Gateway's own metrics of it, by the names that an HTTP API has for them. */
  readonly metrics: MetricSource;
  /** To its page in the console. */
  readonly link: string;
  /** Lines of the access log about each kind of API Gateway’s own answers. */
  readonly ownAnswers: Readonly<Record<OwnAnswer, IFilterPattern>>;
  /** Serves the API under a host name, at the contract's path. */
  serveAt(domainName: DomainName): void;
}
