import { beforeAll, describe, expect, test } from '@jest/globals';
import { logFilter } from '../../../local/aws/logs/log-filter.ts';
import { SynthesisedTemplate } from '../../../tools/generate/synthesised-template.ts';
import { rings } from '../../support/alarm-evaluation.ts';
import { testAssembly } from '../../support/test-stack.ts';
import { stageAssembly } from '../stage-assembly.ts';

let rest: SynthesisedTemplate;
beforeAll(async () => {
  rest = new SynthesisedTemplate(await stageAssembly('every-setting'));
});
const templates = { http: () => new SynthesisedTemplate(testAssembly()), rest: () => rest };

/** The metrics that count a line of the access log. */
function countedAs(template: SynthesisedTemplate, line: object): string[] {
  return template
    .ofType('AWS::Logs::MetricFilter')
    .filter(({ properties }) => template.referred(properties.LogGroupName) === 'Api/AccessLog')
    .filter(({ properties }) => logFilter(properties.FilterPattern)(JSON.stringify(line)))
    .map(({ properties }) => properties.MetricTransformations[0].MetricName);
}

describe.each<[keyof typeof templates, [string, string, string, string | undefined][]]>([
  [
    'http',
    [
      ['POST', '200', '-', undefined],
      ['POST', '400', '-', undefined],
      ['POST', '401', '-', 'Unauthorized'],
      ['POST', '500', '-', undefined],
      ['POST', '403', '-', 'WrongAddress'],
      ['POST', '404', '-', 'WrongAddress'],
      ['GET', '404', '-', undefined],
      ['POST', '413', '-', 'TooLarge'],
      ['POST', '429', '-', 'Throttled'],
      ['POST', '502', '-', 'Unavailable'],
      ['POST', '503', '-', 'Unavailable'],
      ['POST', '504', '-', 'Unavailable'],
    ],
  ],
  [
    'rest',
    [
      ['POST', '200', '-', undefined],
      ['POST', '400', '-', undefined],
      ['POST', '401', '-', 'Unauthorized'],
      ['POST', '500', '-', undefined],
      ['POST', '404', 'MISSING_AUTHENTICATION_TOKEN', 'WrongAddress'],
      ['POST', '404', 'INVALID_SIGNATURE', 'WrongAddress'],
      ['GET', '404', 'MISSING_AUTHENTICATION_TOKEN', undefined],
      ['POST', '500', 'REQUEST_TOO_LARGE', 'TooLarge'],
      ['POST', '413', 'REQUEST_TOO_LARGE', 'TooLarge'],
      ['POST', '413', 'BAD_REQUEST_BODY', 'TooLarge'],
      ['POST', '413', '-', 'TooLarge'],
      ['POST', '500', 'THROTTLED', 'Throttled'],
      ['POST', '429', '-', 'Throttled'],
      ['POST', '500', 'DEFAULT_4XX', 'Throttled'],
      ['POST', '500', 'INTEGRATION_FAILURE', 'Unavailable'],
      ['POST', '500', 'INTEGRATION_TIMEOUT', 'Unavailable'],
      ['POST', '500', 'DEFAULT_5XX', 'Unavailable'],
      ['POST', '502', 'DEFAULT_5XX', 'Unavailable'],
      ['POST', '503', '-', 'Unavailable'],
      ['POST', '504', 'INTEGRATION_FAILURE', 'Unavailable'],
      ['POST', '500', 'WAF_FILTERED', undefined],
    ],
  ],
])('behind %s', (kind, cases) => {
  test.each(cases)('%s, %s, %s counts as %s', (method, status, responseType, metric) => {
    const line = { requestId: 'id', method, status, responseType };
    expect(countedAs(templates[kind](), line)).toEqual(metric === undefined ? [] : [metric]);
  });

  test.each(['Throttled', 'Unavailable', 'TooLarge'])('one %s rings, in its minute', (name) => {
    const alarm = templates[kind]().at('AWS::CloudWatch::Alarm', `Api/${name}`).properties;
    expect(alarm.Period).toBe(60);
    expect(rings(alarm, [[1]])).toBe(true);
    expect(rings(alarm, [[]])).toBe(false);
  });

  test('posts to a wrong address ring when there are ten in an hour', () => {
    const alarm = templates[kind]().at('AWS::CloudWatch::Alarm', 'Api/WrongAddress').properties;
    expect(alarm.Period).toBe(3_600);
    expect(rings(alarm, [Array(10).fill(1)])).toBe(true);
    expect(rings(alarm, [Array(9).fill(1)])).toBe(false);
  });
});

describe('what AWS WAF blocks', () => {
  const alarmOf = (name: string) => rest.at('AWS::CloudWatch::Alarm', `Api/${name}`).properties;
  /** The name of the rule's own metric, in the template. */
  const metricOf = (rule: string) =>
    rest
      .at('AWS::WAFv2::WebACL', 'Api/Firewall')
      .properties.Rules.find(({ Name }: { Name: string }) => Name === rule).VisibilityConfig.MetricName;
  const blocks = (rule: string) => ({
    Namespace: 'AWS/WAFV2',
    MetricName: 'BlockedRequests',
    Dimensions: [
      { Name: 'Region', Value: 'eu-central-1' },
      { Name: 'Rule', Value: metricOf(rule) },
      { Name: 'WebACL', Value: 'PartnerWebhooks-every-setting' },
    ],
    Period: 300,
  });

  test('by the rate of an address rings when it is twenty in five minutes', () => {
    const alarm = alarmOf('Blocked');
    expect(alarm).toMatchObject(blocks('RequestsPerAddress'));
    expect(rings(alarm, [Array(20).fill(1)])).toBe(true);
    expect(rings(alarm, [Array(19).fill(1)])).toBe(false);
  });

  test.each(['AmazonIpReputationList', 'KnownBadInputsRuleSet', 'CommonRuleSet'])(
    'by %s rings when it is one',
    (list) => {
      const alarm = alarmOf(`BlockedBy${list}`);
      expect(alarm).toMatchObject(blocks(`AWSManagedRules${list}`));
      expect(rings(alarm, [[1]])).toBe(true);
      expect(rings(alarm, [[]])).toBe(false);
    },
  );
});
