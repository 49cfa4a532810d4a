import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { logFilter } from 'local-aws/log-filter';
import type { SynthesisedTemplate } from 'local-aws/synthesised-template';
import { functionBehind, only, stageTemplate } from './stage-assembly.ts';

const { waf } = JSON.parse(readFileSync('bin/every-setting.json', 'utf8'));
const templates = { http: await stageTemplate('dev'), rest: await stageTemplate('every-setting') };
const { http, rest } = templates;
type Gateway = keyof typeof templates;

const idOf = (template: SynthesisedTemplate, type: string, path: string) => template.at(type, path).logicalId;
const restStage = idOf(rest, 'AWS::ApiGateway::Stage', 'Api/RestApi/DeploymentStage.api');

test('the HTTP API has one route: POST /api/v1/webhooks/partner, which leads to the receiver in payload format 2.0', () => {
  expect(only(http, 'AWS::ApiGatewayV2::Route').RouteKey).toBe('POST /api/v1/webhooks/partner');
  const { IntegrationUri, PayloadFormatVersion } = only(http, 'AWS::ApiGatewayV2::Integration');
  expect([functionBehind(http, IntegrationUri), PayloadFormatVersion]).toEqual(['Receiver/Function', '2.0']);
});

describe('the REST API', () => {
  test('has one method, and sends the bytes of any body to the receiver unchanged', () => {
    const { BinaryMediaTypes, EndpointConfiguration } = only(rest, 'AWS::ApiGateway::RestApi');
    expect([BinaryMediaTypes, EndpointConfiguration]).toEqual([['*/*'], { Types: ['REGIONAL'] }]);
    const { HttpMethod, Integration } = only(rest, 'AWS::ApiGateway::Method');
    const receiver = [HttpMethod, Integration.Type, functionBehind(rest, Integration.Uri)];
    expect(receiver).toEqual(['POST', 'AWS_PROXY', 'Receiver/Function']);
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
    ['THROTTLED', '5'],
    ['INTEGRATION_TIMEOUT', '30'],
    ['DEFAULT_5XX', '30'],
    ['REQUEST_TOO_LARGE', undefined],
  ])('answers %s with 500, to be repeated after %s seconds', (type, retryAfter) => {
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

  test('is deployed again if its answers change', () => {
    const [deployment] = rest.ofType('AWS::ApiGateway::Deployment');
    const responses = rest.ofType('AWS::ApiGateway::GatewayResponse').map(({ logicalId }) => logicalId);
    expect(deployment?.dependsOn).toEqual(expect.arrayContaining(responses));
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

  test('logs no body and no signature', () => {
    const { Format } = only(http, 'AWS::ApiGatewayV2::Stage').AccessLogSettings;
    const ofRest = only(rest, 'AWS::ApiGateway::Stage').AccessLogSetting.Format;
    expect(Object.keys(JSON.parse(ofRest))).toEqual(expect.arrayContaining(Object.keys(JSON.parse(Format))));
    expect(Format + ofRest).not.toMatch(/body|signature|header/i);
  });
});

/** The metrics that count a line of the access log. */
const countedAs = (template: SynthesisedTemplate, line: object): string[] =>
  template
    .ofType('AWS::Logs::MetricFilter')
    .filter(({ properties }) => template.referred(properties.LogGroupName) === 'Api/AccessLog')
    .filter(({ properties }) => logFilter(properties.FilterPattern)(JSON.stringify(line)))
    .map(({ properties }) => properties.MetricTransformations[0].MetricName);

test.each<[Gateway, Record<string, string>, string | undefined]>([
  ['http', { status: '500' }, undefined],
  ['http', { status: '401' }, 'Unauthorized'],
  ['http', { status: '404' }, 'WrongAddress'],
  ['http', { status: '404', method: 'GET' }, undefined],
  ['http', { status: '413' }, 'TooLarge'],
  ['http', { status: '429' }, 'Throttled'],
  ['http', { status: '504' }, 'Unavailable'],
  ['rest', { status: '401', responseType: '-' }, 'Unauthorized'],
  ['rest', { status: '500', responseType: '-' }, undefined],
  ['rest', { status: '404', responseType: 'INVALID_SIGNATURE' }, 'WrongAddress'],
  ['rest', { status: '500', responseType: 'REQUEST_TOO_LARGE' }, 'TooLarge'],
  ['rest', { status: '500', responseType: 'THROTTLED' }, 'Throttled'],
  ['rest', { status: '500', responseType: 'DEFAULT_4XX' }, 'Throttled'],
  ['rest', { status: '500', responseType: 'INTEGRATION_FAILURE' }, 'Unavailable'],
  ['rest', { status: '503', responseType: '-' }, 'Unavailable'],
  ['rest', { status: '500', responseType: 'WAF_FILTERED' }, undefined],
])('the answer of an API (%s) %j is counted as %s', (gateway, line, metric) => {
  expect(countedAs(templates[gateway], { method: 'POST', ...line })).toEqual(metric ? [metric] : []);
});

describe('AWS WAF', () => {
  const firewall = rest.at('AWS::WAFv2::WebACL', 'Api/Firewall').properties;
  const [rate, ...lists] = firewall.Rules.toReversed();

  test('protects the stage with AWS’ lists and a rate per address, keeps no samples, and is off by default', () => {
    const { WebACLArn, ResourceArn } = only(rest, 'AWS::WAFv2::WebACLAssociation');
    expect(rest.referred(WebACLArn)).toBe('Api/Firewall');
    expect(JSON.stringify(ResourceArn)).toContain(`/stages/",{"Ref":"${restStage}"}`);
    expect([firewall.Scope, firewall.DefaultAction]).toEqual(['REGIONAL', { Allow: {} }]);
    expect(lists.map(({ Name }: { Name: string }) => Name)).toEqual(waf.managedLists.toReversed());
    expect(rate.Action).toEqual({ Block: {} });
    expect(rate.Statement.RateBasedStatement).toEqual({
      Limit: waf.requestsPerAddress,
      EvaluationWindowSec: 300,
      AggregateKeyType: 'IP',
    });
    for (const { VisibilityConfig } of firewall.Rules)
      expect(VisibilityConfig.SampledRequestsEnabled).toBe(false);
    expect(http.has('AWS::WAFv2::WebACL')).toBe(false);
  });

  test('only counts matches in a body or its sender, and docs/security.md names each such rule', () => {
    const overrides: { Name: string; ActionToUse: object }[] = lists.flatMap(
      ({ Statement }: (typeof lists)[number]) =>
        Statement.ManagedRuleGroupStatement.RuleActionOverrides ?? [],
    );
    for (const { ActionToUse } of overrides) expect(ActionToUse).toEqual({ Count: {} });
    for (const { OverrideAction } of lists) expect(OverrideAction).toEqual({ None: {} });
    const document = readFileSync('docs/security.md', 'utf8');
    const named = [...document.matchAll(/`(\w+_(?:BODY|HEADER))`/g)].map(([, name]) => name);
    expect(overrides.map(({ Name }) => Name).sort()).toEqual(named.sort());
    expect(named).toHaveLength(10);
  });

  test('logs blocked requests, without signature and body', () => {
    const log = rest.at('AWS::Logs::LogGroup', 'Api/FirewallLog');
    const { LogDestinationConfigs, ResourceArn, LoggingFilter, RedactedFields } = only(
      rest,
      'AWS::WAFv2::LoggingConfiguration',
    );
    expect(rest.referred(ResourceArn)).toBe('Api/Firewall');
    expect(JSON.stringify(LogDestinationConfigs)).toContain(`:log-group:",{"Ref":"${log.logicalId}"}]`);
    const blocked = { ActionCondition: { Action: 'BLOCK' } };
    expect(LoggingFilter).toEqual({
      DefaultBehavior: 'DROP',
      Filters: [{ Behavior: 'KEEP', Requirement: 'MEETS_ANY', Conditions: [blocked] }],
    });
    expect(RedactedFields).toEqual([{ SingleHeader: { Name: 'x-webhook-signature' } }]);
    expect(firewall.DataProtectionConfig).toEqual({
      DataProtections: [{ Field: { FieldType: 'BODY' }, Action: 'SUBSTITUTION' }],
    });
    expect(JSON.stringify(log.properties.LogGroupName)).toContain('"aws-waf-logs-');
  });

  test('has an alarm for each rule', () => {
    for (const { Name, VisibilityConfig } of firewall.Rules) {
      const path = Name === 'RequestsPerAddress' ? 'Blocked' : Name.replace('AWSManagedRules', 'BlockedBy');
      expect(rest.at('AWS::CloudWatch::Alarm', `Api/${path}`).properties.Dimensions).toEqual([
        { Name: 'Region', Value: 'eu-central-1' },
        { Name: 'Rule', Value: VisibilityConfig.MetricName },
        { Name: 'WebACL', Value: 'PartnerWebhooks-every-setting' },
      ]);
    }
  });
});
