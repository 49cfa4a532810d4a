import { CfnOutput, Duration, type RemovalPolicy, Stack } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  ApiMapping,
  DomainName,
  HttpApi,
  HttpMethod,
  HttpStage,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, type LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { WEBHOOK_PATH } from '../lambda/contract/webhook-path.ts';
import { acknowledge } from './acknowledge.ts';
import { type Alarms, EACH_MINUTE } from './alarms.ts';
import type { StageConfig } from './config.ts';
import type { Encryption } from './encryption.ts';
import { ProtectedLog } from './protected-log.ts';

export interface WebhookApiProps {
  readonly receiver: IFunction;
  readonly domain: StageConfig['domain'];
  readonly throttle: StageConfig['apiThrottle'];
  readonly logRetention: RetentionDays;
  readonly encryption: Encryption;
  readonly removalPolicy: RemovalPolicy;
  readonly alarms: Alarms;
}

/** What the access log says of each request: nothing that the partner sent. */
const ACCESS_LOG = {
  requestId: '$context.requestId',
  time: '$context.requestTime',
  sourceIp: '$context.identity.sourceIp',
  route: '$context.routeKey',
  status: '$context.status',
  bytes: '$context.responseLength',
  latency: '$context.responseLatency',
  integrationError: '$context.integrationErrorMessage',
};

const FIVE_MINUTES = Duration.minutes(5);

/** Server errors in five minutes of which somebody should know; a single one is repeated and forgotten. */
const MANY_SERVER_ERRORS = 5;

/** Milliseconds of the slowest hundredth of answers that are too many: the partner's own time-out is not known. */
const SLOW = 3_000;

/** Share of the API's throttle that rings before it is reached: API Gateway does not log every 429. */
const NEAR_THROTTLE = 0.8;

/** Answers of 401 in five minutes that are more than a stray scanner. */
const MANY_REJECTIONS = 20;

/** The HTTP API with the contract's one route. */
export class WebhookApi extends Construct {
  readonly api: HttpApi;
  readonly accessLog: LogGroup;
  /** What the partner posts to. */
  readonly webhookUrl: string;
  /** Requests that were turned away with 429, each minute. */
  readonly throttled: Metric;

  constructor(scope: Construct, id: string, props: WebhookApiProps) {
    super(scope, id);
    const { receiver, domain, throttle, alarms } = props;
    this.api = new HttpApi(this, 'HttpApi', {
      apiName: Stack.of(this).stackName,
      createDefaultStage: false,
      // Whoever knows it would get round the client certificates of the domain.
      disableExecuteApiEndpoint: domain !== undefined && !domain.keepDefaultEndpoint,
    });
    this.api.addRoutes({
      path: WEBHOOK_PATH,
      methods: [HttpMethod.POST],
      integration: new HttpLambdaIntegration('Receiver', receiver),
    });
    acknowledge(
      this.api,
      'AwsSolutions-APIG4',
      'A delivery proves itself by the HMAC of its body (contract, Authentication), which an authorizer does not see.',
    );
    this.accessLog = new ProtectedLog(this, 'AccessLog', {
      encryption: props.encryption,
      retention: props.logRetention,
      removalPolicy: props.removalPolicy,
    });
    const stage = new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: throttle.rate, burstLimit: throttle.burst },
      accessLogSettings: {
        destination: new LogGroupLogDestination(this.accessLog),
        format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
      },
    });
    this.webhookUrl = `${domain ? this.#serve(domain, stage) : this.api.apiEndpoint}${WEBHOOK_PATH}`;

    alarms.add(this, 'ServerErrors', {
      metric: this.api.metricServerError({ period: FIVE_MINUTES, statistic: 'Sum' }),
      threshold: MANY_SERVER_ERRORS,
      impact: 'deliveries are not accepted; the partner repeats them.',
      firstStep: 'read `ServerError` in the receiver’s log: it names what failed',
      section: 'server-errors',
    });
    this.throttled = this.#answered(429, 'Throttled', EACH_MINUTE);
    alarms.add(this, 'Throttled', {
      metric: this.throttled,
      threshold: 1,
      impact: 'deliveries are answered 429, which the partner is not promised to repeat: they may be lost.',
      firstStep: 'compare the rate of requests with apiThrottle and with the account’s quota',
      section: 'throttled',
    });
    alarms.add(this, 'NearThrottle', {
      metric: this.api.metricCount({ period: EACH_MINUTE, statistic: 'Sum' }),
      threshold: NEAR_THROTTLE * throttle.rate * EACH_MINUTE.toSeconds(),
      impact: 'soon deliveries are answered 429, which the partner is not promised to repeat.',
      firstStep: 'raise apiThrottle, and the account’s quota before',
      section: 'throttled',
    });
    alarms.add(this, 'Slow', {
      metric: this.api.metricLatency({ period: FIVE_MINUTES, statistic: 'p99' }),
      threshold: SLOW,
      periods: 3,
      impact: 'answers are so slow that the partner may give up and repeat.',
      firstStep: 'look at the traces: SQS, Secrets Manager, or start-ups',
      section: 'slow',
    });
    alarms.add(this, 'RejectionsJump', {
      metric: this.#answered(401, 'Unauthorized', FIVE_MINUTES),
      threshold: MANY_REJECTIONS,
      impact: 'the partner signs with a secret that we do not have, or somebody else is posting.',
      firstStep: 'see by source address who is rejected, and whether the secret was rotated',
      section: 'rejections-jump',
    });
  }

  /** Puts the API behind its own host name. @returns the URL of the host */
  #serve(domain: NonNullable<StageConfig['domain']>, stage: HttpStage): string {
    const { name, certificateArn, ownershipCertificateArn, mutualTls } = domain;
    const domainName = new DomainName(this, 'Domain', {
      domainName: name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
      ...(ownershipCertificateArn !== undefined && {
        ownershipCertificate: Certificate.fromCertificateArn(this, 'Ownership', ownershipCertificateArn),
      }),
      ...(mutualTls && {
        mtls: {
          bucket: Bucket.fromBucketName(this, 'TrustStore', mutualTls.bucket),
          key: mutualTls.key,
          ...(mutualTls.version !== undefined && { version: mutualTls.version }),
        },
      }),
    });
    new ApiMapping(this, 'Mapping', { api: this.api, domainName, stage });
    new CfnOutput(Stack.of(this), 'DomainTarget', { value: domainName.regionalDomainName });
    new CfnOutput(Stack.of(this), 'DomainHostedZoneId', { value: domainName.regionalHostedZoneId });
    return `https://${name}`;
  }

  /** Requests by the status that they got: an HTTP API has metrics for 4xx and 5xx only, its log knows more. */
  #answered(status: 401 | 429, metricName: string, period: Duration) {
    return this.accessLog
      .addMetricFilter(metricName, {
        filterPattern: FilterPattern.stringValue('$.status', '=', String(status)),
        metricNamespace: Stack.of(this).stackName,
        metricName,
        metricValue: '1',
      })
      .metric({ period, statistic: 'Sum' });
  }
}
