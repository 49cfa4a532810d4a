import { Duration, Stack } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  type CfnRestApi,
  EndpointAccessMode,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  ResponseType,
  RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { CfnApiMapping } from 'aws-cdk-lib/aws-apigatewayv2';
import { FilterPattern } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { GATEWAY_TIMEOUT_SECONDS } from '../../lambda/limits.ts';
import { serverError } from '../../lambda/receiver/answers.ts';
import { WEBHOOK_PATH } from '../../lambda/receiver/request.ts';
import { acknowledge } from '../acknowledge.ts';
import { restApiLink } from '../alarms/console-links.ts';
import { accessLogFormat, statusIn } from './access-log.ts';
import { addFirewall, type FirewallProps } from './firewall.ts';
import type { Gateway, GatewayProps } from './gateway.ts';
import { GATEWAY_ERRORS, NOT_FOUND } from './gateway-errors.ts';

interface RestGatewayProps extends GatewayProps {
  readonly firewall: FirewallProps | undefined;
}

/** Metrics that have another name for an HTTP API. */
const METRIC_NAMES: Readonly<Record<string, string>> = { '4xx': '4XXError', '5xx': '5XXError' };

/** The first part of the contract's path is the name of the API's stage. The rest is the path of its resource. */
const [, STAGE = '', ...RESOURCE] = WEBHOOK_PATH.split('/');

/**
 * A regional REST API. It answers its own failures with 500, which the partner repeats, and passes all bodies on
 * unchanged.
 */
export function restGateway(scope: Construct, { firewall, ...props }: RestGatewayProps): Gateway {
  const { receiver, throttle, accessLog, defaultEndpoint } = props;
  const api = new RestApi(scope, 'RestApi', {
    restApiName: Stack.of(scope).stackName,
    endpointTypes: [EndpointType.REGIONAL],
    binaryMediaTypes: ['*/*'],
    disableExecuteApiEndpoint: !defaultEndpoint,
    // The role is a setting of the whole account, not of this stack: docs/deploying.md.
    cloudWatchRole: false,
    deployOptions: {
      stageName: STAGE,
      throttlingRateLimit: throttle.rate,
      throttlingBurstLimit: throttle.burst,
      accessLogDestination: new LogGroupLogDestination(accessLog),
      accessLogFormat: AccessLogFormat.custom(
        accessLogFormat({
          requestId: '$context.extendedRequestId',
          route: '$context.resourcePath',
          tlsVersion: '$context.tlsVersion',
        }),
      ),
      // The execution log contains headers with signatures, and with data traces also payloads.
      loggingLevel: MethodLoggingLevel.OFF,
      dataTraceEnabled: false,
    },
  });
  requireTls12(api);
  // Removes the output that the CDK adds: its address is not the webhook's.
  api.node.tryRemoveChild('Endpoint');
  api.root.resourceForPath(RESOURCE.join('/')).addMethod(
    'POST',
    new LambdaIntegration(receiver, {
      allowTestInvoke: false,
      timeout: Duration.seconds(GATEWAY_TIMEOUT_SECONDS),
    }),
  );
  answerWith500(api);
  acknowledgeFindings(api, firewall !== undefined);
  const { deploymentStage: stage } = api;
  if (firewall !== undefined) addFirewall(scope, stage, firewall);
  return {
    webhookUrl: stage.urlForPath(`/${RESOURCE.join('/')}`),
    metrics: { metric: (name, options) => stage.metric(METRIC_NAMES[name] ?? name, options) },
    link: restApiLink(api, api.restApiId),
    ownAnswers: {
      // Lambda's own throttling is passed on as 429, or takes the status of DEFAULT_4XX.
      Throttled: FilterPattern.any(statusIn(429), answeredAs('THROTTLED'), answeredAs('DEFAULT_4XX')),
      Unavailable: FilterPattern.any(
        // API Gateway gives some of its own answers another status than the configured 500.
        statusIn(502, 503, 504),
        FilterPattern.all(
          statusIn(500),
          ...['-', 'THROTTLED', 'DEFAULT_4XX', 'REQUEST_TOO_LARGE', 'WAF_FILTERED'].map((type) =>
            FilterPattern.stringValue('$.responseType', '!=', type),
          ),
        ),
      ),
      TooLarge: FilterPattern.any(statusIn(413), answeredAs('REQUEST_TOO_LARGE')),
      WrongAddress: FilterPattern.all(
        FilterPattern.stringValue('$.method', '=', 'POST'),
        // The receiver never answers 404.
        statusIn(404),
      ),
    },
    serveAt: (domainName) =>
      new CfnApiMapping(scope, 'RestMapping', {
        apiId: api.restApiId,
        apiMappingKey: STAGE,
        domainName: domainName.name,
        stage: stage.stageName,
      }),
  };
}

/**
 * By default a regional API accepts TLS 1.0, also at a host name: API Gateway negotiates by the API's own policy. Of the
 * policies with TLS 1.2, this one accepts the most cipher suites. `STRICT` rejects a request whose TLS handshake named
 * another host, which may have a weaker policy. Sources: API Gateway developer guide, "Supported security policies",
 * "Security policies for REST APIs", "Choose a security policy for your custom domain".
 */
function requireTls12(api: RestApi): void {
  const resource = api.node.defaultChild as CfnRestApi;
  resource.securityPolicy = SecurityPolicy.TLS13_1_2_PQ_2025_09;
  resource.endpointAccessMode = EndpointAccessMode.STRICT;
}

/** Distinguishes answers by the access log's `responseType`, because all have status 500. */
export const answeredAs = (responseType: string) =>
  FilterPattern.stringValue('$.responseType', '=', responseType);

function answerWith500(api: RestApi): void {
  const body = JSON.stringify({ ...serverError, requestId: '$context.extendedRequestId' });
  for (const [type, retryAfter] of Object.entries(GATEWAY_ERRORS)) {
    api.addGatewayResponse(type, {
      type: ResponseType.of(type),
      statusCode: String(serverError.status),
      responseHeaders: {
        'Content-Type': "'application/problem+json'",
        ...(retryAfter !== undefined && { 'Retry-After': `'${retryAfter}'` }),
      },
      templates: { 'application/json': body },
    });
  }
  // Answers an unknown path like an HTTP API. The default would be 403 with a message about a token.
  for (const [id, type] of Object.entries(NOT_FOUND)) {
    api.addGatewayResponse(id, {
      type: ResponseType.of(type),
      statusCode: '404',
      templates: { 'application/json': '{"message":"Not Found"}' },
    });
  }
}

function acknowledgeFindings(api: RestApi, hasFirewall: boolean): void {
  const reasons = {
    'AwsSolutions-APIG2':
      'The receiver validates: signed but invalid deliveries must be stored, not rejected before it.',
    'AwsSolutions-APIG4':
      'Deliveries are authenticated by the HMAC of the body (docs/contract.md, Authentication), which an authorizer does not see.',
    'AwsSolutions-APIG6': 'The execution log contains headers with signatures. The access log is on.',
    'AwsSolutions-COG4':
      'The partner has no user pool: deliveries are authenticated by the HMAC of the body.',
    'Serverless-APIGWXrayEnabled': 'The receiver begins the trace, as behind an HTTP API (`tracing`).',
    ...(!hasFirewall && {
      'AwsSolutions-APIG3': 'AWS WAF is an optional setting of the stage (`waf`), because it has a price.',
    }),
  };
  for (const [rule, reason] of Object.entries(reasons)) acknowledge(api, rule, reason);
}
