import { CfnOutput, Duration, type RemovalPolicy, Stack } from 'aws-cdk-lib';
import { DomainName } from 'aws-cdk-lib/aws-apigatewayv2';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, type IFilterPattern } from 'aws-cdk-lib/aws-logs';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { WEBHOOK_PATH } from '../../lambda/events/webhook-path.ts';
import { type Alarms, EACH_MINUTE } from '../alarms/alarms.ts';
import type { StageConfig } from '../config.ts';
import type { Encryption } from '../encryption.ts';
import { AccessLog } from './access-log.ts';
import { blockedBy, RATE_RULE } from './firewall.ts';
import type { Gateway, OwnAnswer } from './gateway.ts';
import { httpGateway } from './http-api.ts';
import { answeredAs, restGateway } from './rest-api.ts';

export interface WebhookApiProps {
  readonly config: Pick<
    StageConfig,
    'gateway' | 'waf' | 'domain' | 'apiThrottle' | 'sampling' | 'logRetentionDays'
  >;
  readonly receiver: IFunction;
  readonly encryption: Encryption;
  readonly removalPolicy: RemovalPolicy;
  readonly alarms: Alarms;
}

const FIVE_MINUTES = Duration.minutes(5);
const HOUR = Duration.hours(1);

/** Server errors in five minutes of which somebody should know; a single one is repeated and forgotten. */
const MANY_SERVER_ERRORS = 5;

/** Milliseconds of the slowest hundredth of answers that are too many: the partner's own time-out is not known. */
const SLOW = 3_000;

/** Share of the API's throttle that rings before it is reached: API Gateway does not log every 429. */
const NEAR_THROTTLE = 0.8;

/** Answers of 401, or requests that the rate rule blocks, in five minutes that are more than a stray scanner. */
const MANY_REJECTIONS = 20;

/** Posts to another address in an hour that are more than a stray scanner. */
const MANY_WRONG_ADDRESSES = 10;

const SERVER_ERRORS = FilterPattern.stringValue('$.status', '=', '5*');
const UNAUTHORIZED = FilterPattern.stringValue('$.status', '=', '401');
const BLOCKED = answeredAs('WAF_FILTERED');

/** What becomes of a delivery that API Gateway itself has refused, by the kind of API. */
const FATE = {
  http: 'which the partner is not promised to repeat: they may be lost.',
  rest: 'which the partner repeats.',
};

/** What `ServerErrors` says, by the kind of API: a REST API throttles and blocks with 500, too. */
const SERVER_ERRORS_TEXT = {
  http: {
    impact: 'deliveries are not accepted; the partner repeats them.',
    firstStep: 'read `ServerError` in the receiver’s log: it names what failed',
  },
  rest: {
    impact:
      'deliveries fail in the receiver, or are throttled or blocked before it; the partner repeats them.',
    firstStep:
      'if Throttled, Unavailable, TooLarge or Blocked rings, too, begin there; if none, read `ServerError` in the receiver’s log',
  },
};

/** The API with the contract's one route, its host name, and the alarms on what it answers. */
export class WebhookApi extends Construct {
  readonly gateway: Gateway;
  readonly accessLog: AccessLog;
  /** What the partner posts to. */
  readonly webhookUrl: string;
  /** Requests that API Gateway has answered by itself, each minute. */
  readonly ownAnswers: Readonly<Record<OwnAnswer, Metric>>;

  constructor(scope: Construct, id: string, props: WebhookApiProps) {
    super(scope, id);
    const { config, receiver, encryption, removalPolicy, alarms } = props;
    const { domain, apiThrottle: throttle } = config;
    this.accessLog = new AccessLog(this, 'AccessLog', {
      retention: config.logRetentionDays,
      encryption,
      removalPolicy,
    });
    const common = {
      receiver,
      throttle,
      accessLog: this.accessLog,
      // Whoever knows it would get round the client certificates of the domain.
      defaultEndpoint: domain === undefined || domain.keepDefaultEndpoint,
    };
    this.gateway =
      config.gateway === 'http'
        ? httpGateway(this, common)
        : restGateway(this, { ...common, firewall: config.waf, sampling: config.sampling });
    if (domain) this.gateway.serveAt(this.#hostName(domain));
    this.webhookUrl = domain ? `https://${domain.name}${WEBHOOK_PATH}` : this.gateway.webhookUrl;
    const { shows } = this.gateway;
    this.ownAnswers = {
      throttled: this.#counted('Throttled', shows.throttled),
      unavailable: this.#counted('Unavailable', shows.unavailable),
      tooLarge: this.#counted('TooLarge', shows.tooLarge),
      wrongAddress: this.#counted('WrongAddress', shows.wrongAddress),
    };
    this.#watchRequests(alarms, throttle.rate);
    this.#watchOwnAnswers(alarms);
    if (config.waf) this.#watchFirewall(alarms, config.waf);
  }

  /** Makes the host name that the API is served at. */
  #hostName(domain: NonNullable<StageConfig['domain']>): DomainName {
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
    new CfnOutput(Stack.of(this), 'DomainTarget', { value: domainName.regionalDomainName });
    new CfnOutput(Stack.of(this), 'DomainHostedZoneId', { value: domainName.regionalHostedZoneId });
    return domainName;
  }

  #watchRequests(alarms: Alarms, rate: number): void {
    const { metrics } = this.gateway;
    alarms.add(this, 'ServerErrors', {
      metric: metrics.metricServerError({ period: FIVE_MINUTES, statistic: 'Sum' }),
      threshold: MANY_SERVER_ERRORS,
      ...SERVER_ERRORS_TEXT[this.gateway.kind],
      section: 'server-errors',
      links: [this.accessLog.link(SERVER_ERRORS)],
    });
    alarms.add(this, 'NearThrottle', {
      metric: metrics.metricCount({ period: EACH_MINUTE, statistic: 'Sum' }),
      threshold: NEAR_THROTTLE * rate * EACH_MINUTE.toSeconds(),
      impact: `soon deliveries are turned away by the throttle, ${FATE[this.gateway.kind]}`,
      firstStep: 'raise apiThrottle, and the account’s quota before',
      section: 'throttled',
      links: [this.gateway.link],
    });
    alarms.add(this, 'Slow', {
      metric: metrics.metricLatency({ period: FIVE_MINUTES, statistic: 'p99' }),
      threshold: SLOW,
      periods: 3,
      impact: 'answers are so slow that the partner may give up and repeat.',
      firstStep: 'see on the dashboard whether the receiver is slow, and in its log whether it starts often',
      section: 'slow',
      links: [this.gateway.link],
    });
    alarms.add(this, 'RejectionsJump', {
      metric: this.#counted('Unauthorized', UNAUTHORIZED).with({ period: FIVE_MINUTES }),
      threshold: MANY_REJECTIONS,
      impact: 'the partner signs with a secret that we do not have, or somebody else is posting.',
      firstStep: 'see by source address who is rejected, and whether the secret was rotated',
      section: 'rejections-jump',
      links: [this.accessLog.link(UNAUTHORIZED)],
    });
  }

  #watchOwnAnswers(alarms: Alarms): void {
    const { kind, shows } = this.gateway;
    const fate = FATE[kind];
    const answer = (status: string) => (kind === 'http' ? status : '500');
    alarms.add(this, 'Throttled', {
      metric: this.ownAnswers.throttled,
      threshold: 1,
      impact: `deliveries above the throttle are answered ${answer('429')}, ${fate}`,
      firstStep: 'compare the rate of requests with apiThrottle and with the account’s quota',
      section: 'throttled',
      links: [this.accessLog.link(shows.throttled)],
    });
    alarms.add(this, 'Unavailable', {
      metric: this.ownAnswers.unavailable,
      threshold: 1,
      impact: `API Gateway got no answer of the receiver and gave ${answer('502, 503 or 504')}, ${fate}`,
      firstStep: 'see whether the receiver was throttled, took too long or died',
      section: 'unavailable',
      links: [this.accessLog.link(SERVER_ERRORS)],
    });
    alarms.add(this, 'TooLarge', {
      metric: this.ownAnswers.tooLarge,
      threshold: 1,
      impact: 'deliveries are larger than API Gateway and Lambda take: nobody has them, and no repeat helps.',
      firstStep: 'ask the partner for the event in a smaller form: nothing of it was kept',
      section: 'too-large',
      links: [this.accessLog.link(shows.tooLarge)],
    });
    alarms.add(this, 'WrongAddress', {
      metric: this.ownAnswers.wrongAddress.with({ period: HOUR }),
      threshold: MANY_WRONG_ADDRESSES,
      impact:
        'somebody posts to an address that is not the webhook’s: where it is the partner, events are lost.',
      firstStep: 'see by source address who it is, and compare WebhookUrl with what the partner has',
      section: 'wrong-address',
      links: [this.accessLog.link(shows.wrongAddress)],
    });
  }

  #watchFirewall(alarms: Alarms, { managedLists }: NonNullable<StageConfig['waf']>): void {
    const common = { section: 'blocked', links: [this.accessLog.link(BLOCKED)] } as const;
    alarms.add(this, 'Blocked', {
      ...common,
      metric: blockedBy(this, RATE_RULE),
      threshold: MANY_REJECTIONS,
      impact:
        'AWS WAF blocks an address that sends too much. The partner’s deliveries get in once it sends less.',
      firstStep: 'see by source address who is blocked; the partner: raise waf.requestsPerAddress',
    });
    for (const list of managedLists) {
      alarms.add(this, `BlockedBy${list.replace('AWSManagedRules', '')}`, {
        ...common,
        metric: blockedBy(this, list),
        threshold: 1,
        impact: `${list} blocks a request. If it is the partner’s, it is repeated in vain, and lost in the end.`,
        firstStep: 'see by source address who is blocked; the partner: take the list out of waf.managedLists',
      });
    }
  }

  /** Requests by what the access log shows of them: API Gateway has metrics for 4xx and 5xx only. */
  #counted(metricName: string, filterPattern: IFilterPattern): Metric {
    return this.accessLog
      .addMetricFilter(metricName, {
        filterPattern,
        metricNamespace: Stack.of(this).stackName,
        metricName,
        metricValue: '1',
      })
      .metric({ period: EACH_MINUTE, statistic: 'Sum' });
  }
}
