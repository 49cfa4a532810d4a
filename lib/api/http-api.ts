import { Duration, Stack } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  ApiMapping,
  HttpApi,
  HttpMethod,
  HttpStage,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { FilterPattern } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { GATEWAY_TIMEOUT_SECONDS } from '../../lambda/limits.ts';
import { WEBHOOK_PATH } from '../../lambda/receiver/request.ts';
import { acknowledge } from '../acknowledge.ts';
import { httpApiLink } from '../alarms/console-links.ts';
import { accessLogFormat, statusIn } from './access-log.ts';
import type { Gateway, GatewayProps } from './gateway.ts';

/**
 * An HTTP API. The answers that API Gateway itself gives cannot be changed. It accepts only TLS 1.2 and later, which
 * cannot be changed either. Source: API Gateway developer guide, "Choose a security policy for your custom domain".
 */
export function httpGateway(scope: Construct, props: GatewayProps): Gateway {
  const { receiver, throttle, accessLog, defaultEndpoint } = props;
  const api = new HttpApi(scope, 'HttpApi', {
    apiName: Stack.of(scope).stackName,
    createDefaultStage: false,
    disableExecuteApiEndpoint: !defaultEndpoint,
  });
  api.addRoutes({
    path: WEBHOOK_PATH,
    methods: [HttpMethod.POST],
    integration: new HttpLambdaIntegration('Receiver', receiver, {
      timeout: Duration.seconds(GATEWAY_TIMEOUT_SECONDS),
    }),
  });
  acknowledge(
    api,
    'AwsSolutions-APIG4',
    'Deliveries are authenticated by the HMAC of the body (docs/contract.md, Authentication), which an authorizer does not see.',
  );
  const stage = new HttpStage(scope, 'Stage', {
    httpApi: api,
    stageName: '$default',
    autoDeploy: true,
    throttle: { rateLimit: throttle.rate, burstLimit: throttle.burst },
    accessLogSettings: {
      destination: new LogGroupLogDestination(accessLog),
      format: AccessLogFormat.custom(
        accessLogFormat({ requestId: '$context.requestId', route: '$context.routeKey' }),
      ),
    },
  });
  return {
    get webhookUrl() {
      return `${api.apiEndpoint}${WEBHOOK_PATH}`;
    },
    metrics: api,
    link: httpApiLink(api, api.apiId),
    ownAnswers: {
      Throttled: statusIn(429),
      // The receiver never answers with these statuses. If it fails, it answers 500, which the partner repeats.
      Unavailable: statusIn(502, 503, 504),
      TooLarge: statusIn(413),
      // Only POST counts: the partner posts, and scanners mostly use other methods.
      WrongAddress: FilterPattern.all(FilterPattern.stringValue('$.method', '=', 'POST'), statusIn(403, 404)),
    },
    serveAt: (domainName) => new ApiMapping(scope, 'Mapping', { api, domainName, stage }),
  };
}
