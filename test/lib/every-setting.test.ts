import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { catalogue, eventNames } from '../../lambda/events/catalogue.ts';
import { pascalCase } from '../../lambda/events/event-names.ts';
import { SynthesisedTemplate } from '../../tools/generate/synthesised-template.ts';
import { sharedAssembly } from '../support/shared-assembly.ts';
import { stageAssembly } from './stage-assembly.ts';

const settings = JSON.parse(readFileSync('tools/generate/every-setting.json', 'utf8'));
let template: SynthesisedTemplate;

beforeAll(async () => {
  template = new SynthesisedTemplate(await stageAssembly('every-setting'));
});

const variablesOf = (path: string) =>
  template.at('AWS::Lambda::Function', path).properties.Environment.Variables;

test('the stack can be deployed to its account and region only', () => {
  expect(template.environment).toBe(`aws://${settings.account}/${settings.region}`);
});

describe('an existing secret', () => {
  test('is read, and none is made', () => {
    expect(variablesOf('Receiver/Function').WEBHOOK_SECRET_ARN).toBe(settings.secretArn);
    expect(template.outputs.WebhookSecretArn?.Value).toBe(settings.secretArn);
    expect(template.has('AWS::SecretsManager::Secret')).toBe(false);
  });

  test('may be read together with the one that the deployed version reads', () => {
    const role = template.at('AWS::IAM::Role', 'Receiver/Role');
    const secrets = template
      .permissionsOf(role)
      .filter(({ action }) => action === 'secretsmanager:GetSecretValue')
      .map(({ resource }) => resource);
    expect(secrets.sort()).toEqual([settings.previousSecretArn, settings.secretArn].sort());
  });

  test('is accepted in its previous version as long as configured', () => {
    expect(variablesOf('Receiver/Function').SECRET_GRACE_SECONDS).toBe(String(48 * 60 * 60));
  });
});

test('an existing key encrypts every topic, and none is made', () => {
  const keys = template.ofType('AWS::SNS::Topic').map(({ properties }) => properties.KmsMasterKeyId);
  expect(new Set(keys)).toEqual(new Set([settings.kmsKeyArn]));
  expect(template.has('AWS::KMS::Key')).toBe(false);
});

describe('the domain', () => {
  test('serves the API under the certificate, to client certificates of the trust store', () => {
    const [domain] = template.ofType('AWS::ApiGatewayV2::DomainName');
    expect(domain?.properties).toMatchObject({
      DomainName: settings.domain.name,
      DomainNameConfigurations: [
        {
          CertificateArn: settings.domain.certificateArn,
          OwnershipVerificationCertificateArn: settings.domain.ownershipCertificateArn,
          EndpointType: 'REGIONAL',
        },
      ],
      MutualTlsAuthentication: {
        TruststoreUri: `s3://${settings.domain.mutualTls.bucket}/${settings.domain.mutualTls.key}`,
        TruststoreVersion: settings.domain.mutualTls.version,
      },
    });
  });

  test('is what the partner posts to, and the default endpoint is off', () => {
    expect(template.outputs.WebhookUrl?.Value).toBe(
      `https://${settings.domain.name}/api/v1/webhooks/partner`,
    );
    expect(template.at('AWS::ApiGateway::RestApi', 'Api/RestApi').properties.DisableExecuteApiEndpoint).toBe(
      true,
    );
  });

  test('leads to the contract’s path: its first part is the stage of the API, the rest its resource', () => {
    const [mapping] = template.ofType('AWS::ApiGatewayV2::ApiMapping');
    const { ApiId, ApiMappingKey, Stage } = mapping?.properties ?? {};
    expect(template.referred(ApiId)).toBe('Api/RestApi');
    expect(ApiMappingKey).toBe('api');
    expect(template.referred(Stage)).toBe('Api/RestApi/DeploymentStage.api');
  });

  test('of an HTTP API leads to it, and leaves the default endpoint on where the partner has not moved yet', async () => {
    const { mutualTls: _, ownershipCertificateArn: __, ...domain } = settings.domain;
    const moving = { dev: { domain: { ...domain, keepDefaultEndpoint: true } } };
    const http = new SynthesisedTemplate(await sharedAssembly('moving', { stages: moving }));
    const api = http.at('AWS::ApiGatewayV2::Api', 'Api/HttpApi');
    expect(api.properties.DisableExecuteApiEndpoint).toBe(false);
    const [mapping] = http.ofType('AWS::ApiGatewayV2::ApiMapping');
    expect(http.referred(mapping?.properties.ApiId)).toBe('Api/HttpApi');
    expect(mapping?.properties.ApiMappingKey).toBeUndefined();
  });

  test('has outputs for the DNS record that leads to it', () => {
    expect(Object.keys(template.outputs)).toEqual(
      expect.arrayContaining(['DomainTarget', 'DomainHostedZoneId']),
    );
  });
});

test('the API throttles where configured', () => {
  const [stage] = template.ofType('AWS::ApiGateway::Stage');
  expect(stage?.properties.MethodSettings).toEqual([
    expect.objectContaining({
      HttpMethod: '*',
      ResourcePath: '/*',
      ThrottlingRateLimit: settings.apiThrottle.rate,
      ThrottlingBurstLimit: settings.apiThrottle.burst,
    }),
  ]);
});

test.each([
  ['Receiver/Function', settings.receiver],
  ['ShopUpdated/Consumer/Function', settings.events['shop.updated']],
])(
  '%s has its memory, time-out and reserved concurrency',
  (path, { memory, timeout, reservedConcurrency }) => {
    expect(template.at('AWS::Lambda::Function', String(path)).properties).toMatchObject({
      MemorySize: memory,
      Timeout: timeout,
      ReservedConcurrentExecutions: reservedConcurrency,
    });
  },
);

test('an event has its batches, their concurrency, and a queue that hides them for six time-outs', () => {
  const { batchSize, maximumConcurrency, timeout } = settings.events['shop.updated'];
  const mapping = template
    .ofType('AWS::Lambda::EventSourceMapping')
    .find(({ properties }) => template.referred(properties.EventSourceArn) === 'ShopUpdated/Queue');
  expect(mapping?.properties).toMatchObject({
    BatchSize: batchSize,
    ScalingConfig: { MaximumConcurrency: maximumConcurrency },
  });
  expect(template.at('AWS::SQS::Queue', 'ShopUpdated/Queue').properties.VisibilityTimeout).toBe(6 * timeout);
});

test.each(eventNames)('the consumer of %s invalidates the distribution only if it does shops', (event) => {
  const { DISTRIBUTION_ID, INVALIDATION_PATHS } = variablesOf(`${pascalCase(event)}/Consumer/Function`);
  const due =
    catalogue[event].effect === 'shop-cache'
      ? [settings.cloudFront.distributionId, JSON.stringify(settings.cloudFront.paths)]
      : [undefined, undefined];
  expect([DISTRIBUTION_ID, INVALIDATION_PATHS]).toEqual(due);
});

test.each([
  ['alarms', 'Alarms/Topic', settings.alarmEmails[0]],
  ['reviews', 'Effects/Review', settings.reviewEmails[0]],
])('%s are mailed', (_, topic, address) => {
  const mails = template
    .ofType('AWS::SNS::Subscription')
    .filter(({ properties }) => template.referred(properties.TopicArn) === topic)
    .map(({ properties }) => [properties.Protocol, properties.Endpoint]);
  expect(mails).toEqual([['email', address]]);
});

describe('chat notifications', () => {
  test('are shown in the Slack channel', () => {
    const [slack] = template.ofType('AWS::Chatbot::SlackChannelConfiguration');
    expect(slack?.properties).toMatchObject({
      SlackWorkspaceId: settings.chat.slack.workspaceId,
      SlackChannelId: settings.chat.slack.channelId,
    });
    expect(template.referred(slack?.properties.SnsTopicArns[0])).toBe('Effects/Chat');
  });

  test('are shown in the Teams channel', () => {
    const [teams] = template.ofType('AWS::Chatbot::MicrosoftTeamsChannelConfiguration');
    expect(teams?.properties).toMatchObject({
      TeamsTenantId: settings.chat.teams.tenantId,
      TeamId: settings.chat.teams.teamId,
      TeamsChannelId: encodeURIComponent(settings.chat.teams.channelId),
    });
    expect(template.referred(teams?.properties.SnsTopicArns[0])).toBe('Effects/Chat');
  });

  test('let nobody in a channel do anything in the account', () => {
    const channels = [
      ...template.ofType('AWS::Chatbot::SlackChannelConfiguration'),
      ...template.ofType('AWS::Chatbot::MicrosoftTeamsChannelConfiguration'),
    ];
    for (const { properties } of channels) {
      expect(JSON.stringify(properties.GuardrailPolicies)).toMatch(
        /^\[[^,]*(,[^,]*)*:iam::aws:policy\/AWSDenyAll"[^,]*\]$/,
      );
      expect(
        template.statementsOf(template.at('AWS::IAM::Role', template.referred(properties.IamRoleArn))),
      ).toEqual([]);
    }
  });
});

test('alarms link to where the operations guide is published', () => {
  const texts = template
    .ofType('AWS::CloudWatch::Alarm')
    .map(({ properties }) => JSON.stringify(properties.AlarmDescription));
  expect(texts.filter((text) => !text.includes(`See ${settings.runbook}#`))).toEqual([]);
});

test('every function is followed by X-Ray, and may write traces', () => {
  const own = template
    .ofType('AWS::Lambda::Function')
    .filter(({ properties }) => properties.Environment?.Variables?.POWERTOOLS_SERVICE_NAME !== undefined);
  expect(own.map(({ properties }) => properties.TracingConfig)).toEqual(own.map(() => ({ Mode: 'Active' })));
  const allowed = template.ofType('AWS::IAM::Role').flatMap((role) => template.permissionsOf(role));
  expect(allowed.filter(({ action }) => action === 'xray:PutTraceSegments')).toHaveLength(own.length);
});

test('Lambda logs of every invocation', () => {
  const levels = template
    .ofType('AWS::Lambda::Function')
    .map(({ properties }) => properties.LoggingConfig?.SystemLogLevel);
  expect(new Set(levels)).toEqual(new Set(['INFO']));
});

test('every log is kept as long as configured', () => {
  const days = template.ofType('AWS::Logs::LogGroup').map(({ properties }) => properties.RetentionInDays);
  expect(new Set(days)).toEqual(new Set([settings.logRetentionDays]));
});
