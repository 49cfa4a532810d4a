import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { SynthesisedTemplate } from '../../../tools/generate/synthesised-template.ts';
import { testAssembly } from '../../support/test-stack.ts';
import { stageAssembly } from '../stage-assembly.ts';

const settings = JSON.parse(readFileSync('tools/generate/every-setting.json', 'utf8'));
const http = new SynthesisedTemplate(testAssembly());
let rest: SynthesisedTemplate;

beforeAll(async () => {
  rest = new SynthesisedTemplate(await stageAssembly('every-setting'));
});

test('has one resource with one method: POST, below the stage `api`', () => {
  const parts = new Map(
    rest
      .ofType('AWS::ApiGateway::Resource')
      .map(({ path, properties }) => [path, [properties.PathPart, rest.referred(properties.ParentId)]]),
  );
  const [method, ...others] = rest.ofType('AWS::ApiGateway::Method');
  expect(others).toEqual([]);
  expect(method?.properties).toMatchObject({ HttpMethod: 'POST', AuthorizationType: 'NONE' });
  const path: string[] = [];
  let resource = rest.referred(method?.properties.ResourceId);
  while (resource !== 'Api/RestApi') {
    const [part, parent] = parts.get(resource) ?? [];
    path.unshift(part);
    resource = parent ?? '';
  }
  expect(path).toEqual(['v1', 'webhooks', 'partner']);
  const [stage] = rest.ofType('AWS::ApiGateway::Stage');
  expect(stage?.properties.StageName).toBe('api');
});

test('hands the bytes of any body to the receiver as they were sent', () => {
  const { BinaryMediaTypes, EndpointConfiguration } = rest.at(
    'AWS::ApiGateway::RestApi',
    'Api/RestApi',
  ).properties;
  expect(BinaryMediaTypes).toEqual(['*/*']);
  expect(EndpointConfiguration).toEqual({ Types: ['REGIONAL'] });
  const [method] = rest.ofType('AWS::ApiGateway::Method');
  expect(method?.properties.Integration.Type).toBe('AWS_PROXY');
  expect(rest.functionBehind(method?.properties.Integration.Uri)).toBe('Receiver/Function');
});

test('alone may invoke a function from outside, for its one method', () => {
  const [permission, ...others] = rest.ofType('AWS::Lambda::Permission');
  expect(others).toEqual([]);
  const { Principal, FunctionName, SourceArn } = permission?.properties ?? {};
  expect([Principal, rest.functionBehind(FunctionName)]).toEqual([
    'apigateway.amazonaws.com',
    'Receiver/Function',
  ]);
  const { logicalId: api } = rest.at('AWS::ApiGateway::RestApi', 'Api/RestApi');
  const { logicalId: stage } = rest.at('AWS::ApiGateway::Stage', 'Api/RestApi/DeploymentStage.api');
  expect(JSON.stringify(SourceArn)).toContain(
    `:",{"Ref":"${api}"},"/",{"Ref":"${stage}"},"/POST/v1/webhooks/partner"`,
  );
});

describe('what it refuses by itself', () => {
  const responseOf = (type: string) =>
    rest.ofType('AWS::ApiGateway::GatewayResponse').find(({ properties }) => properties.ResponseType === type)
      ?.properties;

  test.each([
    ['THROTTLED', '5'],
    ['INTEGRATION_FAILURE', '5'],
    ['INTEGRATION_TIMEOUT', '30'],
    ['DEFAULT_4XX', '5'],
    ['DEFAULT_5XX', '30'],
    ['WAF_FILTERED', '300'],
    ['REQUEST_TOO_LARGE', undefined],
  ])('%s is answered 500, as the receiver does, to be repeated after %s seconds', (type, retryAfter) => {
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
    'another address is 404, as with an HTTP API (%s)',
    (type) => {
      expect(responseOf(type)).toMatchObject({
        StatusCode: '404',
        ResponseTemplates: { 'application/json': '{"message":"Not Found"}' },
      });
    },
  );

  test('is in force with the deployment: a change of it makes another', () => {
    const [deployment] = rest.ofType('AWS::ApiGateway::Deployment');
    const responses = rest.ofType('AWS::ApiGateway::GatewayResponse').map(({ logicalId }) => logicalId);
    expect(deployment?.dependsOn).toEqual(expect.arrayContaining(responses));
  });

  test.each([
    [
      'Throttled',
      '{ ($.status = "429") || ($.responseType = "THROTTLED") || ($.responseType = "DEFAULT_4XX") }',
    ],
    [
      'Unavailable',
      '{ (($.status = "502") || ($.status = "503") || ($.status = "504")) || (($.status = "500") && ($.responseType != "-") && ($.responseType != "THROTTLED") && ($.responseType != "DEFAULT_4XX") && ($.responseType != "REQUEST_TOO_LARGE") && ($.responseType != "WAF_FILTERED")) }',
    ],
    ['TooLarge', '{ ($.status = "413") || ($.responseType = "REQUEST_TOO_LARGE") }'],
    ['WrongAddress', '{ ($.method = "POST") && ($.status = "404") }'],
  ])('rings: %s', (name, pattern) => {
    const filter = rest
      .ofType('AWS::Logs::MetricFilter')
      .find(({ properties }) => properties.FilterPattern === pattern)?.properties;
    expect(rest.referred(filter?.LogGroupName)).toBe('Api/AccessLog');
    const { MetricNamespace, MetricName } = filter?.MetricTransformations[0] ?? {};
    expect(MetricName).toBe(name);
    expect(rest.at('AWS::CloudWatch::Alarm', `Api/${name}`).properties).toMatchObject({
      Namespace: MetricNamespace,
      MetricName,
      Statistic: 'Sum',
    });
  });
});

test('says of server errors that throttles and blocks are among them, and which alarms to look at first', () => {
  const textOf = (template: SynthesisedTemplate) =>
    JSON.stringify(template.at('AWS::CloudWatch::Alarm', 'Api/ServerErrors').properties.AlarmDescription);
  expect(textOf(rest)).toContain('or are throttled or blocked before it');
  expect(textOf(rest)).toContain('First step: if Throttled, Unavailable, TooLarge or Blocked rings');
  expect(textOf(http)).toContain('First step: read `ServerError` in the receiver’s log');
});

test('has every alarm that an HTTP API has', () => {
  const ofTheApi = (template: SynthesisedTemplate) =>
    template
      .ofType('AWS::CloudWatch::Alarm')
      .map(({ path }) => path)
      .filter((path) => path.startsWith('Api/'))
      .sort();
  const ofTheFirewall = [
    'Api/Blocked',
    ...settings.waf.managedLists.map((list: string) => list.replace('AWSManagedRules', 'Api/BlockedBy')),
  ];
  expect(ofTheApi(rest)).toEqual([...ofTheApi(http), ...ofTheFirewall].sort());
});

test('is watched by its own metrics, of its one stage', () => {
  const { properties } = rest.at('AWS::CloudWatch::Alarm', 'Api/ServerErrors');
  expect(properties).toMatchObject({ Namespace: 'AWS/ApiGateway', MetricName: '5XXError' });
  const dimensions = properties.Dimensions.map(({ Name }: { Name: string }) => Name);
  expect(dimensions).toEqual(['ApiName', 'Stage']);
});

test('logs each request as an HTTP API does, by its own variables, and neither a body nor a signature', () => {
  const [stage] = rest.ofType('AWS::ApiGateway::Stage');
  const format = stage?.properties.AccessLogSetting.Format;
  expect(format).not.toMatch(/body|signature|header/i);
  const [httpStage] = http.ofType('AWS::ApiGatewayV2::Stage');
  const httpFormat = httpStage?.properties.AccessLogSettings.Format;
  expect(JSON.parse(format)).toEqual({
    ...JSON.parse(httpFormat),
    requestId: '$context.extendedRequestId',
    route: '$context.resourcePath',
  });
});

/** A rule of the firewall that is one of AWS' lists. */
interface Rule {
  readonly Name: string;
  readonly OverrideAction: object;
  readonly Statement: {
    readonly ManagedRuleGroupStatement: {
      readonly RuleActionOverrides?: readonly { readonly Name: string; readonly ActionToUse: object }[];
    };
  };
}

describe('AWS WAF', () => {
  test('stands before the stage, with AWS’ lists and a rate for each address, and keeps no samples', () => {
    const [association] = rest.ofType('AWS::WAFv2::WebACLAssociation');
    expect(rest.referred(association?.properties.WebACLArn)).toBe('Api/Firewall');
    const { logicalId } = rest.at('AWS::ApiGateway::Stage', 'Api/RestApi/DeploymentStage.api');
    expect(JSON.stringify(association?.properties.ResourceArn)).toContain(`/stages/",{"Ref":"${logicalId}"}`);
    const { Rules, DefaultAction, Scope } = rest.at('AWS::WAFv2::WebACL', 'Api/Firewall').properties;
    expect([Scope, DefaultAction]).toEqual(['REGIONAL', { Allow: {} }]);
    expect(Rules.map(({ Name }: { Name: string }) => Name)).toEqual([
      ...settings.waf.managedLists,
      'RequestsPerAddress',
    ]);
    expect(Rules.at(-1)).toMatchObject({
      Action: { Block: {} },
      Statement: {
        RateBasedStatement: {
          Limit: settings.waf.requestsPerAddress,
          EvaluationWindowSec: 300,
          AggregateKeyType: 'IP',
        },
      },
    });
    for (const { VisibilityConfig } of Rules) expect(VisibilityConfig.SampledRequestsEnabled).toBe(false);
  });

  test('counts, and does not block, what a list says of a body or of who sends it', () => {
    const { Rules } = rest.at('AWS::WAFv2::WebACL', 'Api/Firewall').properties;
    const overrides = Rules.slice(0, -1).map(({ Name, OverrideAction, Statement }: Rule) => [
      Name,
      OverrideAction,
      ...(Statement.ManagedRuleGroupStatement.RuleActionOverrides ?? []).map(
        (override) => `${override.Name} ${JSON.stringify(override.ActionToUse)}`,
      ),
    ]);
    expect(overrides).toEqual([
      ['AWSManagedRulesAmazonIpReputationList', { None: {} }],
      [
        'AWSManagedRulesKnownBadInputsRuleSet',
        { None: {} },
        'JavaDeserializationRCE_BODY {"Count":{}}',
        'Log4JRCE_BODY {"Count":{}}',
        'ReactJSRCE_BODY {"Count":{}}',
      ],
      [
        'AWSManagedRulesCommonRuleSet',
        { None: {} },
        'NoUserAgent_HEADER {"Count":{}}',
        'UserAgent_BadBots_HEADER {"Count":{}}',
        'SizeRestrictions_BODY {"Count":{}}',
        'EC2MetaDataSSRF_BODY {"Count":{}}',
        'GenericLFI_BODY {"Count":{}}',
        'GenericRFI_BODY {"Count":{}}',
        'CrossSiteScripting_BODY {"Count":{}}',
      ],
    ]);
  });

  test('has each rule that only counts in docs/security.md', () => {
    const document = readFileSync('docs/security.md', 'utf8');
    const { Rules } = rest.at('AWS::WAFv2::WebACL', 'Api/Firewall').properties;
    const counted = Rules.slice(0, -1).flatMap(
      ({ Statement }: Rule) => Statement.ManagedRuleGroupStatement.RuleActionOverrides ?? [],
    );
    const missing = counted.filter(({ Name }: { Name: string }) => !document.includes(`| \`${Name}\` |`));
    expect(missing).toEqual([]);
  });

  test('is none unless it is asked for', () => {
    expect(http.has('AWS::WAFv2::WebACL')).toBe(false);
  });
});

describe('X-Ray', () => {
  test('follows deliveries from the receiver on, as behind an HTTP API', () => {
    const { properties } = rest.at('AWS::ApiGateway::Stage', 'Api/RestApi/DeploymentStage.api');
    expect(properties.TracingEnabled).toBeUndefined();
  });

  test('follows nothing unless it is asked for', () => {
    const modes = http
      .ofType('AWS::Lambda::Function')
      .map(({ properties }) => properties.TracingConfig?.Mode);
    expect(new Set(modes)).toEqual(new Set([undefined]));
  });
});

test.each([
  ['an HTTP API', () => http],
  ['a REST API', () => rest],
])('the access log of %s is where no policy of the account can run out', (_, template) => {
  const { LogGroupName } = template().at('AWS::Logs::LogGroup', 'Api/AccessLog').properties;
  expect(JSON.stringify(LogGroupName)).toMatch(/"\/aws\/vendedlogs\/PartnerWebhooks-[\w-]+-access-",/);
  expect(JSON.stringify(LogGroupName)).toContain('{"Ref":"AWS::StackId"}');
});
