import { CfnOutput, Stack } from 'aws-cdk-lib';
import { DomainName, SecurityPolicy } from 'aws-cdk-lib/aws-apigatewayv2';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, type IFilterPattern } from 'aws-cdk-lib/aws-logs';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { WEBHOOK_PATH } from '../../lambda/receiver/request.ts';
import type { Alarms } from '../alarms/alarms.ts';
import { certificateLink } from '../alarms/console-links.ts';
import { countedMetrics, countLines, metricsUnder } from '../alarms/log-metrics.ts';
import type { StageConfig } from '../config.ts';
import type { StoredProps } from '../pipeline/protected-storage.ts';
import type { ReleasedFunction } from '../pipeline/webhook-function.ts';
import { AccessLog } from './access-log.ts';
import { RATE_RULE, ruleMetrics } from './firewall.ts';
import type { Gateway } from './gateway.ts';
import { httpGateway } from './http-api.ts';
import { answeredAs, restGateway } from './rest-api.ts';

interface WebhookApiProps extends StoredProps {
  readonly config: Pick<StageConfig, 'gateway' | 'waf' | 'domain' | 'apiThrottle' | 'logRetentionDays'>;
  readonly receiver: ReleasedFunction;
  readonly alarms: Alarms;
}

const SERVER_ERRORS = FilterPattern.stringValue('$.status', '=', '5*');
const UNAUTHORIZED = FilterPattern.stringValue('$.status', '=', '401');
const BLOCKED = answeredAs('WAF_FILTERED');

/** The API with the contract's one route, its host name, and the alarms on its answers. */
export class WebhookApi extends Construct {
  readonly gateway: Gateway;
  readonly accessLog: AccessLog;
  /** The address that the partner posts to. */
  readonly webhookUrl: string;

  constructor(scope: Construct, id: string, props: WebhookApiProps) {
    super(scope, id);
    const { config, receiver, encryption, removalPolicy, alarms } = props;
    const { domain, apiThrottle: throttle } = config;
    const log = { retention: config.logRetentionDays, encryption, removalPolicy };
    this.accessLog = new AccessLog(this, 'AccessLog', log);
    const common = {
      // The classes of the CDK do not satisfy exactOptionalPropertyTypes.
      receiver: receiver.alias as IFunction,
      throttle,
      accessLog: this.accessLog,
      // The default endpoint would bypass the domain's client certificates.
      defaultEndpoint: domain === undefined || domain.keepDefaultEndpoint,
    };
    this.gateway =
      config.gateway === 'http'
        ? httpGateway(this, common)
        : restGateway(this, { ...common, firewall: config.waf && { ...config.waf, log } });
    if (domain) this.gateway.serveAt(this.#hostName(domain));
    this.webhookUrl = domain ? `https://${domain.name}${WEBHOOK_PATH}` : this.gateway.webhookUrl;
    this.#watch(alarms, config);
    watchCertificate(alarms, Stack.of(this), 'CertificateExpires', domain?.certificateArn);
    watchCertificate(alarms, Stack.of(this), 'OwnershipCertificateExpires', domain?.ownershipCertificateArn);
  }

  /** Makes the host name that the API is served at. */
  #hostName(domain: NonNullable<StageConfig['domain']>): DomainName {
    const { name, certificateArn, ownershipCertificateArn, mutualTls } = domain;
    const domainName = new DomainName(this, 'Domain', {
      domainName: name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
      // The only policy that both an HTTP API and client certificates allow. A REST API has its own, which decides.
      securityPolicy: SecurityPolicy.TLS_1_2,
      ...(ownershipCertificateArn !== undefined && {
        ownershipCertificate: Certificate.fromCertificateArn(this, 'Ownership', ownershipCertificateArn),
      }),
      ...(mutualTls && {
        mtls: {
          bucket: Bucket.fromBucketName(this, 'TrustStore', mutualTls.bucket),
          key: mutualTls.key,
          version: mutualTls.version,
        },
      }),
    });
    new CfnOutput(Stack.of(this), 'DomainTarget', { value: domainName.regionalDomainName });
    new CfnOutput(Stack.of(this), 'DomainHostedZoneId', { value: domainName.regionalHostedZoneId });
    return domainName;
  }

  #watch(alarms: Alarms, { apiThrottle, waf }: WebhookApiProps['config']): void {
    const { metrics, link, ownAnswers } = this.gateway;
    // API Gateway itself counts only 4xx and 5xx.
    const answers = { ...ownAnswers, Unauthorized: UNAUTHORIZED };
    for (const metric of Object.keys(answers) as (keyof typeof answers)[]) {
      countLines(this.accessLog, { [metric]: { metric, pattern: answers[metric].logPatternString } });
    }
    const counted = countedMetrics(this);
    const logLinks = (pattern: IFilterPattern) => [this.accessLog.link(pattern)] as const;
    alarms.add(this, 'Api/ServerErrors', { metricsOf: metrics, links: logLinks(SERVER_ERRORS) });
    alarms.add(this, 'Api/NearThrottle', {
      metricsOf: metrics,
      setting: apiThrottle.rate * 60,
      links: [link],
    });
    alarms.add(this, 'Api/Slow', { metricsOf: metrics, links: [link] });
    alarms.add(this, 'Api/RejectionsJump', { metricsOf: counted, links: logLinks(UNAUTHORIZED) });
    alarms.add(this, 'Api/Unavailable', { metricsOf: counted, links: logLinks(SERVER_ERRORS) });
    for (const answer of ['Throttled', 'TooLarge', 'WrongAddress'] as const) {
      alarms.add(this, `Api/${answer}`, { metricsOf: counted, links: logLinks(ownAnswers[answer]) });
    }
    if (waf === undefined) return;
    alarms.add(this, 'Api/Blocked', { metricsOf: ruleMetrics(this, RATE_RULE), links: logLinks(BLOCKED) });
    for (const list of waf.managedLists) {
      alarms.add(this, 'Api/BlockedBy<List>', {
        id: `BlockedBy${list.replace('AWSManagedRules', '')}`,
        metricsOf: ruleMetrics(this, list),
        links: logLinks(BLOCKED),
      });
    }
  }
}

function watchCertificate(
  alarms: Alarms,
  stack: Stack,
  name: 'CertificateExpires' | 'OwnershipCertificateExpires',
  arn: string | undefined,
): void {
  if (arn === undefined) return;
  const metricsOf = metricsUnder('AWS/CertificateManager', { CertificateArn: arn });
  alarms.add(stack, name, { metricsOf, links: [certificateLink(stack, arn)] });
}
