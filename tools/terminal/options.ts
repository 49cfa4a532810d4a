import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { LOCAL_SECRET } from '../../events/signing.ts';
import { MAX_PAUSE_REASON_LENGTH } from '../../lambda/limits.ts';
import { didYouMean } from '../../lib/did-you-mean.ts';
import { UsageError } from './command-error.ts';
import { printable } from './text.ts';

/**
 * Parser of an option whose value is a whole number.
 * @throws InvalidArgumentError if the number is out of range; the command prints its message as one line
 * @example new Option('--rate <n>', 'messages a second').argParser(wholeNumber(1, 500))
 */
export function wholeNumber(minimum: number, maximum = Number.MAX_SAFE_INTEGER) {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `from ${minimum}` : `from ${minimum} to ${maximum}`;
  return (text: string): number => {
    const value = Number(text);
    if (/^(0|[1-9]\d*)$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };
}

const MILLISECONDS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

const LENGTH = /^([1-9]\d{0,5})([mhd])$/;

/** A time as in RFC 3339, with or without seconds, or only a date. */
const MOMENT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Parses the value of an option that is a time. A date means midnight in UTC.
 * @throws InvalidArgumentError
 */
export function time(text: string): Date {
  const [, length, unit = ''] = LENGTH.exec(text) ?? [];
  if (length !== undefined) return new Date(Date.now() - Number(length) * (MILLISECONDS[unit] ?? 0));
  const [, date = ''] = MOMENT.exec(text) ?? [];
  const day = new Date(date);
  const moment = new Date(text);
  // JavaScript parses 30 February as 2 March.
  const exists = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date);
  if (exists && !Number.isNaN(moment.getTime())) return moment;
  throw new InvalidArgumentError(
    'It must be a time such as 2026-01-31T09:00:00Z, a date such as 2026-01-31 (midnight UTC), or an age such as 90m, 3h or 7d.',
  );
}

/**
 * Parser of a repeatable option or argument that collects words of a list.
 * @throws InvalidArgumentError for another word
 */
export function eachOf<Word extends string>(words: readonly Word[]) {
  return (text: string, before: readonly Word[] = []): readonly Word[] => {
    const word = words.find((known) => known === text);
    if (word !== undefined) return [...before, word];
    throw new InvalidArgumentError(`${didYouMean(text, words)} One of: ${words.join(', ')}`.trim());
  };
}

/**
 * A reason that a person gave, which terminals and mails display unchanged.
 * @throws UsageError
 */
export function requireReason(text = ''): string {
  const reason = text.trim();
  const isOneLine = !/\s/.test(reason.replaceAll(' ', '')) && printable(reason) === reason;
  if (reason !== '' && reason.length <= MAX_PAUSE_REASON_LENGTH && isOneLine) return reason;
  throw new UsageError(
    `Give a reason, in one line of 1 to ${MAX_PAUSE_REASON_LENGTH} characters: --reason "…"`,
  );
}

export const MAX_PORT = 65_535;

export const port = wholeNumber(0, MAX_PORT);

/** Option for a port to listen on. Default: the environment's variable, or the number. */
export const portOption = <Flags extends string>(
  flags: Flags,
  what: string,
  variable: string,
  number: number,
) => new Option(flags, `${what}; 0 picks a free one`).env(variable).argParser(port).default(number);

/** @throws InvalidArgumentError if the secret is empty */
export function nonEmptySecret(text: string): string {
  if (text === '')
    throw new InvalidArgumentError('It must not be empty: anybody could sign with an empty secret.');
  return text;
}

/**
 * Option for the secret that signs deliveries. Default: WEBHOOK_SECRET, or the secret of the local stack.
 * @param defaultText default in the help, for commands that read the secret of a stage instead
 */
export const secretOption = (defaultText = LOCAL_SECRET) =>
  new Option('--secret <secret>', 'secret that signs deliveries')
    .env('WEBHOOK_SECRET')
    .default(LOCAL_SECRET, defaultText)
    .argParser(nonEmptySecret);

export const jsonOption = () => new Option('--json', 'print JSON with full ids, for programs');

const GATEWAYS = ['http', 'rest'] as const;

export type GatewayKind = (typeof GATEWAYS)[number];

/** Option for the type of API Gateway, to use another one than the stage's setting. */
export const gatewayOption = () =>
  new Option('--gateway <kind>', 'type of API Gateway (default: the setting of the stage)').choices(GATEWAYS);
