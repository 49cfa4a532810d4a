import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { logFilter } from 'local-aws/endpoint';
import type { SynthesisedTemplate } from 'local-aws/template';
import { only, stageTemplate } from './stage-assembly.ts';

const settings = JSON.parse(readFileSync('bin/every-setting.json', 'utf8'));
const templates = { http: await stageTemplate('dev'), rest: await stageTemplate('every-setting') };
const { http, rest } = templates;
type Gateway = keyof typeof templates;

const idOf = (template: SynthesisedTemplate, type: string, path: string) => template.at(type, path).logicalId;
const alarm = (gateway: Gateway, name: string) =>
  templates[gateway].at('AWS::CloudWatch::Alarm', `Api/${name}`).properties;

describe('the HTTP API', () => {
  test('has one route: POST /api/v1/webhooks/partner', () => {
    expect(only(http, 'AWS::ApiGatewayV2::Route').RouteKey).toBe('POST /api/v1/webhooks/partner');
  });

  test('sends a delivery to the receiver with payload format 2.0', () => {
    const { IntegrationUri, PayloadFormatVersion } = only(http, 'AWS::ApiGatewayV2::Integration');
    expect([http.functionBehind(IntegrationUri), PayloadFormatVersion]).toEqual(['Receiver/Function', '2.0']);
  });

  // The endpoint of an HTTP API supports only the scheme https.
  test('WebhookUrl is the route over HTTPS', () => {
    expect(http.outputs.WebhookUrl?.Value).toEqual({
      'Fn::Join': [
        '',
        [
          { 'Fn::GetAtt': [idOf(http, 'AWS::ApiGatewayV2::Api', 'Api/HttpApi'), 'ApiEndpoint'] },
          '/api/v1/webhooks/partner',
        ],
      ],
    });
  });
});

describe('the REST API', () => {
  test('has one resource with one method: POST, below the stage `api`', () => {
    const parts = rest.ofType('AWS::ApiGateway::Resource').map(({ path, properties }) => ({
      path,
      part: properties.PathPart,
      parent: rest.referred(properties.ParentId),
    }));
    expect(parts.map(({ part }) => part)).toEqual(['v1', 'webhooks', 'partner']);
    expect(parts.map(({ parent }) => parent)).toEqual([
      'Api/RestApi',
      ...parts.slice(0, -1).map(({ path }) => path),
    ]);
    const { HttpMethod, AuthorizationType, ResourceId } = only(rest, 'AWS::ApiGateway::Method');
    expect([HttpMethod, AuthorizationType]).toEqual(['POST', 'NONE']);
    expect(rest.referred(ResourceId)).toBe(parts.at(-1)?.path);
    expect(only(rest, 'AWS::ApiGateway::Stage').StageName).toBe('api');
  });

  test('sends the bytes of any body to the receiver unchanged', () => {
    const { BinaryMediaTypes, EndpointConfiguration } = only(rest, 'AWS::ApiGateway::RestApi');
    expect(BinaryMediaTypes).toEqual(['*/*']);
    expect(EndpointConfiguration).toEqual({ Types: ['REGIONAL'] });
    const { Type, Uri } = only(rest, 'AWS::ApiGateway::Method').Integration;
    expect([Type, rest.functionBehind(Uri)]).toEqual(['AWS_PROXY', 'Receiver/Function']);
  });

  // The default is TLS 1.0, and decides at a host name, too. Only STRICT rejects a handshake with a host of a weaker
  // policy. Source: API Gateway developer guide, "Supported security policies" for Regional APIs.
  test('accepts TLS 1.2 and later only', () => {
    const { SecurityPolicy, EndpointAccessMode } = only(rest, 'AWS::ApiGateway::RestApi');
    expect(SecurityPolicy).toMatch(/^SecurityPolicy_TLS13_1_2_(?!.*EDGE)/);
    expect(EndpointAccessMode).toBe('STRICT');
  });

  // API Gateway's execution log has headers and bodies.
  test('has no execution log', () => {
    const [settings] = only(rest, 'AWS::ApiGateway::Stage').MethodSettings;
    expect([settings.LoggingLevel, settings.DataTraceEnabled]).toEqual(['OFF', false]);
  });

  const responseOf = (type: string) =>
    rest.ofType('AWS::ApiGateway::GatewayResponse').find(({ properties }) => properties.ResponseType === type)
      ?.properties;

  test.each([
    { type: 'THROTTLED', retryAfter: '5' },
    { type: 'INTEGRATION_FAILURE', retryAfter: '5' },
    { type: 'INTEGRATION_TIMEOUT', retryAfter: '30' },
    { type: 'DEFAULT_4XX', retryAfter: '5' },
    { type: 'DEFAULT_5XX', retryAfter: '30' },
    { type: 'WAF_FILTERED', retryAfter: '300' },
    { type: 'REQUEST_TOO_LARGE', retryAfter: undefined },
  ])('answers $type with 500, to be repeated after $retryAfter seconds', ({ type, retryAfter }) => {
    const response = responseOf(type);
    expect(response?.StatusCode).toBe('500');
    expect(response?.ResponseParameters).toEqual({
      'gatewayresponse.header.Content-Type': "'application/problem+json'",
      ...(retryAfter && { 'gatewayresponse.header.Retry-After': `'${retryAfter}'` }),
    });
    expect(JSON.parse(response?.ResponseTemplates['application/json'])).toEqual({
      type: 'urn:partner-webhooks:problem:server-error',
      title: 'Server error',
      status: 500,
      detail: 'The event was not accepted. Send it again.',
      requestId: '$context.extendedRequestId',
    });
  });

  test.each(['MISSING_AUTHENTICATION_TOKEN', 'INVALID_SIGNATURE', 'EXPIRED_TOKEN', 'RESOURCE_NOT_FOUND'])(
    'answers another address with 404, as an HTTP API does (%s)',
    (type) => {
      expect(responseOf(type)).toMatchObject({
        StatusCode: '404',
        ResponseTemplates: { 'application/json': '{"message":"Not Found"}' },
      });
    },
  );

  test('is deployed again if its answers change', () => {
    const [deployment] = rest.ofType('AWS::ApiGateway::Deployment');
    const responses = rest.ofType('AWS::ApiGateway::GatewayResponse').map(({ logicalId }) => logicalId);
    expect(deployment?.dependsOn).toEqual(expect.arrayContaining(responses));
  });

  test('has every alarm of an HTTP API, and those of its firewall', () => {
    const alarmsOf = (template: SynthesisedTemplate) =>
      template
        .ofType('AWS::CloudWatch::Alarm')
        .map(({ path }) => path)
        .filter((path) => path.startsWith('Api/') && !path.startsWith('Api/Blocked'));
    expect(alarmsOf(rest).sort()).toEqual(alarmsOf(http).sort());
    for (const { Name } of only(rest, 'AWS::WAFv2::WebACL').Rules.slice(0, -1)) {
      expect(alarm('rest', Name.replace('AWSManagedRules', 'BlockedBy'))).toBeDefined();
    }
  });
});

describe('either API', () => {
  // The defaults of the two kinds differ, and that of a REST API can be raised for the account.
  test('waits for the receiver longer than its timeout', () => {
    for (const [template, { TimeoutInMillis }] of [
      [http, only(http, 'AWS::ApiGatewayV2::Integration')],
      [rest, only(rest, 'AWS::ApiGateway::Method').Integration],
    ] as const) {
      const { Timeout } = template.at('AWS::Lambda::Function', 'Receiver/Function').properties;
      expect([TimeoutInMillis, Timeout < 29]).toEqual([29_000, true]);
    }
  });

  test('API Gateway may invoke the receiver for this API and its only route', () => {
    const { SourceArn, Principal, FunctionName } = only(http, 'AWS::Lambda::Permission');
    expect([Principal, http.functionBehind(FunctionName)]).toEqual([
      'apigateway.amazonaws.com',
      'Receiver/Function',
    ]);
    const api = idOf(http, 'AWS::ApiGatewayV2::Api', 'Api/HttpApi');
    expect(JSON.stringify(SourceArn)).toContain(`:",{"Ref":"${api}"},"/*/*/api/v1/webhooks/partner"`);

    const ofRest = only(rest, 'AWS::Lambda::Permission');
    expect([ofRest.Principal, rest.functionBehind(ofRest.FunctionName)]).toEqual([
      Principal,
      'Receiver/Function',
    ]);
    const restApi = idOf(rest, 'AWS::ApiGateway::RestApi', 'Api/RestApi');
    const stage = idOf(rest, 'AWS::ApiGateway::Stage', 'Api/RestApi/DeploymentStage.api');
    expect(JSON.stringify(ofRest.SourceArn)).toContain(
      `:",{"Ref":"${restApi}"},"/",{"Ref":"${stage}"},"/POST/v1/webhooks/partner"`,
    );
  });

  test('logs each request in the same fields, without body and signature', () => {
    const { Format } = only(http, 'AWS::ApiGatewayV2::Stage').AccessLogSettings;
    const ofRest = only(rest, 'AWS::ApiGateway::Stage').AccessLogSetting.Format;
    expect(Format).not.toMatch(/body|signature|header/i);
    expect(JSON.parse(ofRest)).toEqual({
      ...JSON.parse(Format),
      requestId: '$context.extendedRequestId',
      route: '$context.resourcePath',
      // An HTTP API has no such variable.
      tlsVersion: '$context.tlsVersion',
    });
  });

  test.each<Gateway>(['http', 'rest'])(
    'has its access log by a name that no policy runs out of: %s',
    (gateway) => {
      const { LogGroupName } = templates[gateway].at('AWS::Logs::LogGroup', 'Api/AccessLog').properties;
      expect(JSON.stringify(LogGroupName)).toMatch(/"\/aws\/vendedlogs\/PartnerWebhooks-[\w-]+-access-",/);
      expect(JSON.stringify(LogGroupName)).toContain('{"Ref":"AWS::StackId"}');
    },
  );
});

describe('answers of API Gateway itself', () => {
  /** The metrics that count a line of the access log. */
  const countedAs = (template: SynthesisedTemplate, line: object): string[] =>
    template
      .ofType('AWS::Logs::MetricFilter')
      .filter(({ properties }) => template.referred(properties.LogGroupName) === 'Api/AccessLog')
      .filter(({ properties }) => logFilter(properties.FilterPattern)(JSON.stringify(line)))
      .map(({ properties }) => properties.MetricTransformations[0].MetricName);

  test.each([
    { status: '200', counts: [] },
    { status: '400', counts: [] },
    { status: '401', counts: ['Unauthorized'] },
    { status: '500', counts: [] },
    { status: '403', counts: ['WrongAddress'] },
    { status: '404', counts: ['WrongAddress'] },
    { status: '404', method: 'GET', counts: [] },
    { status: '413', counts: ['TooLarge'] },
    { status: '429', counts: ['Throttled'] },
    { status: '502', counts: ['Unavailable'] },
    { status: '503', counts: ['Unavailable'] },
    { status: '504', counts: ['Unavailable'] },
  ])('are counted behind an HTTP API: $status as $counts', ({ status, method = 'POST', counts }) => {
    expect(countedAs(http, { method, status })).toEqual(counts);
  });

  test.each([
    { status: '200', type: '-', counts: [] },
    { status: '400', type: '-', counts: [] },
    { status: '401', type: '-', counts: ['Unauthorized'] },
    { status: '500', type: '-', counts: [] },
    { status: '404', type: 'INVALID_SIGNATURE', counts: ['WrongAddress'] },
    { status: '404', type: 'MISSING_AUTHENTICATION_TOKEN', method: 'GET', counts: [] },
    { status: '500', type: 'REQUEST_TOO_LARGE', counts: ['TooLarge'] },
    { status: '413', type: 'BAD_REQUEST_BODY', counts: ['TooLarge'] },
    { status: '500', type: 'THROTTLED', counts: ['Throttled'] },
    { status: '429', type: '-', counts: ['Throttled'] },
    { status: '500', type: 'DEFAULT_4XX', counts: ['Throttled'] },
    { status: '500', type: 'INTEGRATION_FAILURE', counts: ['Unavailable'] },
    { status: '500', type: 'INTEGRATION_TIMEOUT', counts: ['Unavailable'] },
    { status: '500', type: 'DEFAULT_5XX', counts: ['Unavailable'] },
    { status: '502', type: 'DEFAULT_5XX', counts: ['Unavailable'] },
    { status: '503', type: '-', counts: ['Unavailable'] },
    { status: '504', type: 'INTEGRATION_FAILURE', counts: ['Unavailable'] },
    { status: '500', type: 'WAF_FILTERED', counts: [] },
  ])(
    'are counted behind a REST API: $status $type as $counts',
    ({ status, type, method = 'POST', counts }) => {
      expect(countedAs(rest, { method, status, responseType: type })).toEqual(counts);
    },
  );
});

interface Override {
  readonly Name: string;
  readonly ActionToUse: object;
}

describe('AWS WAF', () => {
  const firewall = rest.at('AWS::WAFv2::WebACL', 'Api/Firewall').properties;
  const [rate, ...lists] = firewall.Rules.toReversed();

  /** Rules of a managed list that only count instead of blocking. */
  const overridesOf = ({ Statement }: (typeof lists)[number]) =>
    (Statement.ManagedRuleGroupStatement.RuleActionOverrides ?? []) as {
      Name: string;
      ActionToUse: object;
    }[];

  test('protects the stage with AWS’ lists and a rate per address, and keeps no samples', () => {
    const { WebACLArn, ResourceArn } = only(rest, 'AWS::WAFv2::WebACLAssociation');
    expect(rest.referred(WebACLArn)).toBe('Api/Firewall');
    const stage = idOf(rest, 'AWS::ApiGateway::Stage', 'Api/RestApi/DeploymentStage.api');
    expect(JSON.stringify(ResourceArn)).toContain(`/stages/",{"Ref":"${stage}"}`);
    expect([firewall.Scope, firewall.DefaultAction]).toEqual(['REGIONAL', { Allow: {} }]);
    expect(lists.map(({ Name }: { Name: string }) => Name)).toEqual(settings.waf.managedLists.toReversed());
    expect(rate).toMatchObject({
      Action: { Block: {} },
      Statement: {
        RateBasedStatement: {
          Limit: settings.waf.requestsPerAddress,
          EvaluationWindowSec: 300,
          AggregateKeyType: 'IP',
        },
      },
    });
    for (const { VisibilityConfig } of firewall.Rules)
      expect(VisibilityConfig.SampledRequestsEnabled).toBe(false);
  });

  test('only counts matches in a body or its sender, and docs/security.md names each such rule', () => {
    const overrides: Override[] = lists.flatMap(overridesOf);
    for (const { ActionToUse } of overrides) expect(ActionToUse).toEqual({ Count: {} });
    for (const { OverrideAction } of lists) expect(OverrideAction).toEqual({ None: {} });
    const document = readFileSync('docs/security.md', 'utf8');
    const named = [...document.matchAll(/`(\w+_(?:BODY|HEADER))`/g)].map(([, name]) => name);
    expect(overrides.map(({ Name }) => Name).sort()).toEqual(named.sort());
    expect(named).toHaveLength(10);
  });

  test('is off by default', () => {
    expect(http.has('AWS::WAFv2::WebACL')).toBe(false);
  });

  test('logs blocked requests, without signature and body, in a log that it may write to', () => {
    const log = rest.at('AWS::Logs::LogGroup', 'Api/FirewallLog');
    const { LogDestinationConfigs, ResourceArn, LoggingFilter, RedactedFields } = only(
      rest,
      'AWS::WAFv2::LoggingConfiguration',
    );
    expect(rest.referred(ResourceArn)).toBe('Api/Firewall');
    expect(JSON.stringify(LogDestinationConfigs)).toContain(`:log-group:",{"Ref":"${log.logicalId}"}]`);
    expect(LoggingFilter).toEqual({
      DefaultBehavior: 'DROP',
      Filters: [
        {
          Behavior: 'KEEP',
          Requirement: 'MEETS_ANY',
          Conditions: [{ ActionCondition: { Action: 'BLOCK' } }],
        },
      ],
    });
    expect(RedactedFields).toEqual([{ SingleHeader: { Name: 'x-webhook-signature' } }]);
    expect(firewall.DataProtectionConfig).toEqual({
      DataProtections: [{ Field: { FieldType: 'BODY' }, Action: 'SUBSTITUTION' }],
    });
    expect(JSON.stringify(log.properties.LogGroupName)).toMatch(
      /"aws-waf-logs-PartnerWebhooks-every-setting-firewall-",.*\{"Ref":"AWS::StackId"\}/,
    );
    const [logging] = rest.ofType('AWS::WAFv2::LoggingConfiguration');
    const policy = rest.at('AWS::Logs::ResourcePolicy', 'Api/FirewallLog/Policy/ResourcePolicy');
    expect(logging?.dependsOn).toContain(policy.logicalId);
    expect(JSON.stringify(policy.properties.PolicyDocument)).toContain(log.logicalId);
  });

  test.each([
    { name: 'Blocked', rule: 'RequestsPerAddress' },
    { name: 'BlockedByAmazonIpReputationList', rule: 'AWSManagedRulesAmazonIpReputationList' },
    { name: 'BlockedByKnownBadInputsRuleSet', rule: 'AWSManagedRulesKnownBadInputsRuleSet' },
    { name: 'BlockedByCommonRuleSet', rule: 'AWSManagedRulesCommonRuleSet' },
  ])('has an alarm for each rule: $name', ({ name, rule }) => {
    const found = alarm('rest', name);
    const { VisibilityConfig } = firewall.Rules.find(({ Name }: { Name: string }) => Name === rule);
    expect(found.Dimensions).toEqual([
      { Name: 'Region', Value: 'eu-central-1' },
      { Name: 'Rule', Value: VisibilityConfig.MetricName },
      { Name: 'WebACL', Value: 'PartnerWebhooks-every-setting' },
    ]);
  });
});
