import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { SavedQueries } from '../../lib/dashboard/saved-queries.ts';
import { SynthesisedTemplate } from '../../tools/generate/synthesised-template.ts';
import { testAssembly } from '../support/test-stack.ts';

interface Definition {
  readonly Name: string;
  readonly QueryString: string;
  readonly LogGroupNames: readonly { readonly Ref: string }[];
}

/** The queries of a stack with a receiver and two consumers. */
function definitions(): Definition[] {
  const stack = new Stack(new App(), 'Test');
  const logGroup = (id: string) => new LogGroup(stack, id);
  new SavedQueries(stack, 'Queries', {
    receiver: logGroup('Receiver'),
    consumers: [logGroup('ShopUpdated'), logGroup('GirlCreated')],
    access: logGroup('Access'),
  });
  const found = Template.fromStack(stack).findResources('AWS::Logs::QueryDefinition');
  return Object.values(found).map(({ Properties }) => Properties);
}

const queries = definitions();
const query = (name: string) => {
  const found = queries.find(({ Name }) => Name === `Test/${name}`);
  if (found === undefined) throw new Error(`No query ${name}`);
  return found;
};

/** Source: CloudWatch Logs user guide, "Logs Insights language query syntax". */
const commands = ['fields', 'filter', 'stats', 'sort', 'limit'];
const words = [
  'and',
  'as',
  'asc',
  'by',
  'desc',
  'in',
  'or',
  'count',
  'count_distinct',
  'ispresent',
  'max',
  'min',
];

const literals = /"[^"]*"|\/[^/]*\//g;
const namesIn = (text: string) => text.replace(literals, '').match(/@?[A-Za-z_][\w.]*/g) ?? [];
const aliasesOf = (text: string) => Array.from(text.matchAll(/ as (\w+)/g), ([, alias = '']) => alias);

/** Fields that CloudWatch finds in every line, and that Powertools' logger writes. */
const always = ['@timestamp', '@message', '@log', 'message', 'level', 'service'];

/** What Lambda writes of an invocation that failed. */
const status = 'record.status';

/** What the consumers write with what `EffectLatency` measures. */
const latency = 'latencyMs';

/** Code without its comments. */
let sources = '';

beforeAll(async () => {
  for await (const file of glob('lambda/**/*.ts'))
    sources += readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
});

/** The fields of the API's access log. */
function accessFields(): string[] {
  const [stage] = new SynthesisedTemplate(testAssembly()).ofType('AWS::ApiGatewayV2::Stage');
  return Object.keys(JSON.parse(stage?.properties.AccessLogSettings.Format));
}

describe('each saved query', () => {
  test.each(queries)('$Name is in the folder of the stack and no longer than CloudFormation takes', (one) => {
    expect(one.Name).toMatch(/^Test\/[^/]+$/);
    expect(one.Name.length).toBeLessThanOrEqual(255);
    expect(one.QueryString.length).toBeLessThanOrEqual(10_000);
  });

  test.each(queries)('$Name consists of commands of Logs Insights, in an order that works', (one) => {
    const used = one.QueryString.replace(literals, '')
      .split('|')
      .map((command) => command.trim().split(' ')[0] ?? '');
    expect(used).toEqual(commands.filter((command) => used.includes(command)));
    expect(used).toContain('limit');
  });

  test.each(queries)('$Name asks for fields that are logged', ({ QueryString }) => {
    const aliases = aliasesOf(QueryString);
    const fields = namesIn(QueryString).filter((name) => ![...commands, ...words, ...aliases].includes(name));
    const known = [...always, ...accessFields(), latency, status];
    const logged = (field: string) =>
      known.includes(field) ||
      field.split('.').every((part) => new RegExp(`\\b${part}\\b *[:,}]`).test(sources));
    expect(fields.filter((field) => !logged(field))).toEqual([]);
  });

  test.each(queries)('$Name looks for messages that are logged', ({ QueryString }) => {
    const messages = Array.from(QueryString.matchAll(/message = ("[^"]*")/g), ([, message = '']) => message);
    for (const message of messages) expect(sources).toContain(message.replaceAll('"', "'"));
  });
});

describe('the saved queries', () => {
  test('have names of their own', () => {
    expect(new Set(queries.map(({ Name }) => Name)).size).toBe(queries.length);
  });

  test.each([
    ['Follow one event id', ['Receiver', 'ShopUpdated', 'GirlCreated']],
    ['Follow one request id', ['Access', 'Receiver', 'ShopUpdated', 'GirlCreated']],
    ['Slowest effects', ['ShopUpdated', 'GirlCreated']],
    ['Rejected signatures by source', ['Receiver']],
    ['Errors by function', ['Receiver', 'ShopUpdated', 'GirlCreated']],
    ['Why effects fail and are tried again', ['ShopUpdated', 'GirlCreated']],
    ['Dead letters with their reason', ['ShopUpdated', 'GirlCreated']],
    ['Answers by status and source', ['Access']],
  ])('%s reads the logs that can tell', (name, logGroups) => {
    const read = query(name).LogGroupNames.map(({ Ref }) => Ref.slice(0, -8));
    expect(read).toEqual(logGroups);
  });

  test('leave a place for the id that is followed', () => {
    expect(query('Follow one event id').QueryString).toContain('| filter eventId = "EVENT_ID"');
    expect(query('Follow one request id').QueryString).toContain('| filter requestId = "REQUEST_ID"');
  });

  test('count the rejected by source and reason', () => {
    expect(query('Rejected signatures by source').QueryString).toMatch(
      /^filter message = "Rejected"\n\| stats .* by sourceIp, reason\n/,
    );
  });
});
