import { type RemovalPolicy, Stack } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { HttpApi, HttpMethod, HttpStage, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

export interface WebhookApiProps {
  readonly receiver: IFunction;
  readonly removalPolicy: RemovalPolicy;
}

/** The one path of the contract. */
const WEBHOOK_PATH = '/api/v1/webhooks/partner';

/**
 * Requests a second, and requests at once: the account's own quotas for HTTP APIs. The sender is not
 * promised to repeat a 429 (design D16), so the API never throttles before the account does.
 * Source: API Gateway developer guide, "Account-level throttling".
 */
const THROTTLE = { rateLimit: 10_000, burstLimit: 5_000 };

/** The HTTP API with the contract's one route. */
export class WebhookApi extends Construct {
  /** What the partner posts to. */
  readonly webhookUrl: string;
  readonly httpApi: HttpApi;
  readonly accessLog: LogGroup;

  constructor(scope: Construct, id: string, { receiver, removalPolicy }: WebhookApiProps) {
    super(scope, id);
    this.httpApi = new HttpApi(this, 'HttpApi', {
      apiName: Stack.of(this).stackName,
      createDefaultStage: false,
    });
    this.httpApi.addRoutes({
      path: WEBHOOK_PATH,
      methods: [HttpMethod.POST],
      integration: new HttpLambdaIntegration('Receiver', receiver),
    });
    this.accessLog = new LogGroup(this, 'AccessLog', { retention: RetentionDays.ONE_MONTH, removalPolicy });
    new HttpStage(this, 'Stage', {
      httpApi: this.httpApi,
      stageName: '$default',
      autoDeploy: true,
      throttle: THROTTLE,
      accessLogSettings: {
        destination: new LogGroupLogDestination(this.accessLog),
        format: AccessLogFormat.custom(
          JSON.stringify({
            requestId: '$context.requestId',
            time: '$context.requestTime',
            sourceIp: '$context.identity.sourceIp',
            route: '$context.routeKey',
            status: '$context.status',
            bytes: '$context.responseLength',
            latency: '$context.responseLatency',
            integrationError: '$context.integrationErrorMessage',
          }),
        ),
      },
    });
    this.webhookUrl = `${this.httpApi.apiEndpoint}${WEBHOOK_PATH}`;
  }
}
