import { eventNames } from '../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../lambda/events/event-names.ts';
import type { StackChanges } from '../../../local/deployed-stack.ts';
import type { FunctionError } from '../../../local/functions/invocation.ts';
import type { Difference } from '../../../local/template/template-diff.ts';

/** Maximum number of functions named in one line. If there are more, only their number is shown. */
const MAX_NAMED = 3;

/** Maximum number of source positions shown for an error. */
const MAX_POSITIONS = 3;

/** Maximum number of type errors shown: a changed type can break a hundred lines. */
const MAX_TYPE_ERRORS = 5;

/** Plain names of resource types. */
const NOUNS: Readonly<Record<string, string>> = {
  'AWS::CloudWatch::Alarm': 'alarm',
  'AWS::DynamoDB::Table': 'table',
  'AWS::IAM::Role': 'role',
  'AWS::KinesisFirehose::DeliveryStream': 'delivery stream',
  'AWS::Lambda::Alias': 'alias',
  'AWS::Lambda::EventSourceMapping': 'event source',
  'AWS::Lambda::Function': 'function',
  'AWS::S3::Bucket': 'bucket',
  'AWS::SNS::Topic': 'topic',
  'AWS::SQS::Queue': 'queue',
  'AWS::SecretsManager::Secret': 'secret',
};

const DELIVERY_STREAM = 'AWS::KinesisFirehose::DeliveryStream';

/** Types with data, which stays when the resource is removed from the template. */
const HOLDERS: ReadonlySet<string> = new Set(['AWS::DynamoDB::Table', 'AWS::S3::Bucket', 'AWS::SQS::Queue']);

const nounOf = (type: string) => NOUNS[type] ?? type.replace(/^AWS::ApiGateway(V2)?::/, 'API ').toLowerCase();

/** `shop.updated` of a consumer, `receiver` */
const functionName = (service: string) => eventNames.find((event) => kebabCase(event) === service) ?? service;

/** `1.2 s`, `180 ms` */
const duration = (milliseconds: number) =>
  milliseconds < 1_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;

/** `receiver and shop.updated`, `8 functions` */
function functionNames(services: readonly string[]): string {
  const names = services.map(functionName).sort();
  if (names.length > MAX_NAMED) return `${names.length} functions`;
  return list(names);
}

const list = (words: readonly string[]) =>
  [words.slice(0, -1).join(', '), ...words.slice(-1)].filter(Boolean).join(' and ');

/** `Rebuilding 8 functions …` */
export const rebuildingText = (services: readonly string[]) => `Rebuilding ${functionNames(services)} …`;

/** `Rebuilt shop.updated in 180 ms` */
export function rebuiltText(services: readonly string[], milliseconds: number): string {
  if (services.length === 0) return `Saved; no function changed (${duration(milliseconds)})`;
  return `Rebuilt ${functionNames(services)} in ${duration(milliseconds)}`;
}

/** Why a function cannot be loaded, with positions in its source. */
export function loadFailureText(
  service: string,
  { errorType, errorMessage, trace = [] }: FunctionError,
): string {
  const places = trace.filter((line) => /^ {4}at lambda\//.test(line)).slice(0, MAX_POSITIONS);
  return [`${functionName(service)} cannot be loaded: ${errorType}: ${errorMessage}`, ...places].join('\n');
}

export function typeMistakesText(mistakes: readonly string[]): string {
  const more = mistakes.length - MAX_TYPE_ERRORS;
  return [
    'Type errors in the saved code:',
    ...mistakes.slice(0, MAX_TYPE_ERRORS).map((mistake) => `  ${mistake}`),
    ...(more > 0 ? [`  ${more} more: npm run check shows all`] : []),
  ].join('\n');
}

/** `Synthesised in 4.2 s. New: 2 queues and 1 function. Changed: receiver. Removed: 1 alarm` */
export function synthesisedText(
  { resources, changed: functions }: StackChanges,
  milliseconds: number,
): string {
  const of = (kind: Difference['kind']) => resources.filter((one) => one.kind === kind);
  const changed = counted(of('changed').filter(({ type }) => type !== DELIVERY_STREAM));
  if (functions.length > 0) changed.unshift(functionNames(functions));
  const later = counted(of('changed').filter(({ type }) => type === DELIVERY_STREAM));
  const parts = { New: counted(of('new')), Changed: changed, Removed: counted(of('removed')) };
  return [
    `Synthesised in ${duration(milliseconds)}`,
    ...Object.entries(parts).flatMap(([title, items]) =>
      items.length > 0 ? `${title}: ${list(items)}` : [],
    ),
    ...(of('removed').some(({ type }) => HOLDERS.has(type))
      ? ['Their contents stay at the AWS endpoint']
      : []),
    ...(later.length > 0 ? [`To change these, restart it: ${list(later)}`] : []),
    ...(resources.length + functions.length === 0 ? ['Nothing changes'] : []),
  ].join('. ');
}

/** `['2 queues', '1 function']` */
function counted(differences: readonly Difference[]): string[] {
  const counts = new Map<string, number>();
  for (const { type } of differences) counts.set(nounOf(type), (counts.get(nounOf(type)) ?? 0) + 1);
  return [...counts].map(([noun, count]) => (count === 1 ? `1 ${noun}` : `${count} ${plural(noun)}`));
}

const plural = (noun: string) => (noun.endsWith('s') ? `${noun}es` : `${noun}s`);

/** The output of a synthesis, without lines of Node.js itself. */
export function withoutNodeLines(text: string): string {
  return text
    .split('\n')
    .filter((line) => !/^\s+at .*node:|^Node\.js v/.test(line))
    .join('\n')
    .trim();
}
