import { parseArgs } from 'node:util';
import { type EventName, eventNames, isEventName } from '../../lambda/contract/catalogue.ts';
import { CommandError } from '../terminal/command-error.ts';
import { defaultWorkload, type Workload } from './workload.ts';

/** What one run of `npm run cost` does. */
export interface CostArguments {
  /** `cost` and `scale` print, `measure` measures the log lines. */
  readonly action: 'cost' | 'scale' | 'measure';
  /** Folder of a cloud assembly; undefined: the one that is synthesised now. */
  readonly assembly: string | undefined;
  readonly workload: Workload;
  /** The account's quota of concurrent executions. */
  readonly accountConcurrency: number;
}

/** An option that takes a number, and what it may be. */
interface NumberOption {
  readonly of: string;
  readonly fits: (value: number) => boolean;
  readonly change: (value: number) => Partial<Workload>;
}

/** A body that fits a message: 1 MiB less 32 KiB (`lambda/queue/message.ts`). */
const MAXIMUM_PAYLOAD_BYTES = (1024 - 32) * 1024;

/** Source: Lambda developer guide, "Lambda quotas", function memory allocation and function timeout. */
const MEMORY = { minimum: 128, maximum: 10_240 };
const MAXIMUM_MILLISECONDS = 900_000;

const whole = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) => ({
  of:
    maximum === Number.MAX_SAFE_INTEGER
      ? `a whole number from ${minimum}`
      : `a whole number from ${minimum} to ${maximum}`,
  fits: (value: number) => Number.isSafeInteger(value) && value >= minimum && value <= maximum,
});

const numberOptions: Readonly<Record<string, NumberOption>> = {
  deliveries: { ...whole(1), change: (deliveries) => ({ deliveries }) },
  'payload-bytes': {
    ...whole(1, MAXIMUM_PAYLOAD_BYTES),
    of: `a whole number from 1 to ${MAXIMUM_PAYLOAD_BYTES} (--oversize-share is for larger ones)`,
    change: (payloadBytes) => ({ payloadBytes }),
  },
  'receiver-ms': {
    ...whole(1, MAXIMUM_MILLISECONDS),
    change: (receiverMilliseconds) => ({ receiverMilliseconds }),
  },
  'consumer-ms': {
    ...whole(1, MAXIMUM_MILLISECONDS),
    change: (consumerMilliseconds) => ({ consumerMilliseconds }),
  },
  batch: {
    of: 'a number from 1 to 10000',
    fits: (value) => value >= 1 && value <= 10_000,
    change: (batch) => ({ batch }),
  },
  'oversize-share': {
    of: 'a number from 0 to 1',
    fits: (value) => value >= 0 && value <= 1,
    change: (oversizeShare) => ({ oversizeShare }),
  },
  memory: {
    ...whole(MEMORY.minimum, MEMORY.maximum),
    change: (memoryMegabytes) => ({ memoryMegabytes }),
  },
  'review-emails': { ...whole(0), change: (reviewEmails) => ({ reviewEmails }) },
};

const options = {
  ...Object.fromEntries(Object.keys(numberOptions).map((name) => [name, { type: 'string' } as const])),
  mix: { type: 'string' },
  cloudfront: { type: 'boolean' },
  'account-concurrency': { type: 'string' },
  assembly: { type: 'string' },
  scale: { type: 'boolean' },
  measure: { type: 'boolean' },
} as const;

/** @throws CommandError naming everything that is wrong */
export function parseCostArguments(args: readonly string[]): CostArguments {
  const values = parse(args);
  const problems: string[] = [];
  const number = (name: string, { of, fits }: Pick<NumberOption, 'of' | 'fits'>): number | undefined => {
    const text = values[name];
    if (text === undefined) return undefined;
    const value = /^\d+(\.\d+)?$/.test(String(text)) ? Number(text) : Number.NaN;
    if (fits(value)) return value;
    problems.push(`--${name} must be ${of}, not '${text}'`);
    return undefined;
  };

  let workload: Workload = { ...defaultWorkload, cloudFront: values.cloudfront === true };
  for (const [name, option] of Object.entries(numberOptions)) {
    const value = number(name, option);
    if (value !== undefined) workload = { ...workload, ...option.change(value) };
  }
  const accountConcurrency = number('account-concurrency', whole(1)) ?? 1_000;
  if (values.mix !== undefined) workload = { ...workload, mix: parseMix(String(values.mix), problems) };

  const actions = (['scale', 'measure'] as const).filter((name) => values[name] === true);
  if (actions.length > 1) problems.push(`Only one of --${actions.join(', --')} can be done at a time`);
  if (problems.length > 0) throw new CommandError(problems.join('\n'));
  return {
    action: actions[0] ?? 'cost',
    assembly: values.assembly === undefined ? undefined : String(values.assembly),
    workload,
    accountConcurrency,
  };
}

function parse(args: readonly string[]): Readonly<Record<string, string | boolean | undefined>> {
  try {
    return parseArgs({ args: [...args], options }).values as Record<string, string | boolean | undefined>;
  } catch (error) {
    // Node.js names the option and what is wrong with it.
    throw new CommandError(error instanceof Error ? error.message : String(error));
  }
}

/** Weights such as `shop.updated=3,review.posted=1`; an event that is not named is not sent. */
function parseMix(text: string, problems: string[]): Record<EventName, number> {
  const weights = text.split(',').map((part) => {
    const [, name = '', weight = ''] = /^([^=]*)=(\d+(?:\.\d+)?)$/.exec(part) ?? [];
    if (!isEventName(name)) {
      problems.push(
        `--mix must be EVENT=WEIGHT, separated by commas, not '${part}'; the events are ${eventNames.join(', ')}`,
      );
    }
    return [name, Number(weight)] as const;
  });
  const sum = weights.reduce((total, [, weight]) => total + weight, 0);
  if (sum === 0 && problems.length === 0)
    problems.push('--mix must give at least one event a weight above 0');
  const share = (name: EventName) =>
    weights.filter(([of]) => of === name).reduce((total, [, weight]) => total + weight, 0) / sum;
  return Object.fromEntries(eventNames.map((name) => [name, share(name)])) as Record<EventName, number>;
}
