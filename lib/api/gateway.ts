import type { DomainName } from 'aws-cdk-lib/aws-apigatewayv2';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IFilterPattern } from 'aws-cdk-lib/aws-logs';
import type { MetricSource } from '../alarms/log-metrics.ts';
import type { StageConfig } from '../config.ts';
import type { AccessLog } from './access-log.ts';

export interface GatewayProps {
  readonly receiver: IFunction;
  readonly throttle: StageConfig['apiThrottle'];
  readonly accessLog: AccessLog;
  /** Whether the API also answers at its default address, in addition to a host name. */
  readonly defaultEndpoint: boolean;
}

/** Kinds of answers by API Gateway itself. Such deliveries are not stored. */
type OwnAnswer = 'Throttled' | 'Unavailable' | 'TooLarge' | 'WrongAddress';

/** An HTTP API or a REST API with one route: the path of the webhook. */
export interface Gateway {
  /**
   * The webhook address if there is no host name.
   * @throws Error if the default endpoint is off
   */
  readonly webhookUrl: string;
  /** API Gateway's own metrics, by their names for an HTTP API. */
  readonly metrics: MetricSource;
  /** Link to the API's page in the AWS console. */
  readonly link: string;
  /** Patterns of access log lines for each kind of API Gateway's own answers. */
  readonly ownAnswers: Readonly<Record<OwnAnswer, IFilterPattern>>;
  /** Serves the API under a host name, at the contract's path. */
  serveAt(domainName: DomainName): void;
}
