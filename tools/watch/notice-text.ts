import type { FunctionError } from 'local-aws/functions';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';

/** Maximum number of functions to name in one line. For more, only the number is shown. */
const MAX_NAMED = 3;

/** Maximum number of source positions shown for an error. */
const MAX_POSITIONS = 3;

/** Maximum number of type errors shown: a changed type can break a hundred lines. */
const MAX_TYPE_ERRORS = 5;

/** Name of a function for people: `shop.updated` for a consumer, or `receiver`. */
const functionName = (service: string) => eventNames.find((event) => kebabCase(event) === service) ?? service;

/** A duration such as `1.2 s` or `180 ms`. */
const duration = (milliseconds: number) =>
  milliseconds < 1_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;

/** Names of functions: `receiver and shop.updated`, or `8 functions`. */
function functionNames(services: readonly string[]): string {
  const names = services.map(functionName).sort();
  if (names.length > MAX_NAMED) return `${names.length} functions`;
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(' and ');
}

export const rebuildingText = (services: readonly string[]) => `Rebuilding ${functionNames(services)} …`;

/** Such as `Rebuilt shop.updated in 180 ms`. */
export function rebuiltText(services: readonly string[], milliseconds: number): string {
  if (services.length === 0) return `Saved; no function changed (${duration(milliseconds)})`;
  return `Rebuilt ${functionNames(services)} in ${duration(milliseconds)}`;
}

/** Why a function's code cannot be loaded, with positions in its source. */
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

export const unchangedText = (milliseconds: number) =>
  `Synthesised in ${duration(milliseconds)}: the stack stays as it is`;

/** Such as `lib/config.ts and 2 other files changed`. */
export function changedText([first = '', ...others]: readonly string[]): string {
  if (others.length === 0) return `${first} changed`;
  return `${first} and ${others.length} other ${others.length === 1 ? 'file' : 'files'} changed`;
}

/** Such as `lib/config.ts changed. The stack restarted, empty, in 1.9 s`. */
export const restartedText = (files: readonly string[], milliseconds: number) =>
  `${changedText(files)}. The stack restarted, empty, in ${duration(milliseconds)}`;

/** Output of a synthesis without lines of stack traces that are about Node.js itself. */
export function withoutNodeLines(text: string): string {
  return text
    .split('\n')
    .filter((line) => !/^\s+at .*node:|^Node\.js v/.test(line))
    .join('\n')
    .trim();
}
