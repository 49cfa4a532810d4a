import { kebabCase } from '../../../lambda/contract/event-names.ts';
import type { LogLine } from '../../../local/functions/invocation.ts';
import { asJson, LogFormat } from '../../terminal/log-format.ts';
import { printable } from '../../terminal/text.ts';
import { NOT_RUNNING } from '../local-folder.ts';
import type { Operation } from '../operation.ts';
import { forPeople } from '../work.ts';
import { type DeliveryFilter, deliveryFilter } from './delivery-filter.ts';
import { followLogs } from './follow.ts';

interface TailArguments extends DeliveryFilter {
  /** @default now */
  readonly since: Date | undefined;
  readonly json: boolean;
}

/**
 * `npm run tail`: says the wanted lines as they are written, until it is interrupted.
 * @throws CommandError where nothing can have such an id
 */
export async function tail(
  { stack, signal, say, width }: Operation,
  { events, id, since = new Date(), json }: TailArguments,
): Promise<void> {
  const isWanted = deliveryFilter({ events, id });
  const format = new LogFormat(process.stdout, width);
  const complain = complaints();
  console.error(`Following ${stack.title}. Ctrl-C ends it.`);
  const following = followLogs(stack, {
    functions: events && ['receiver', ...events],
    since,
    signal,
    onProblem: (name, error) => {
      const known = forPeople(error, stack.local);
      const text = known instanceof Error ? known.message : String(known);
      complain.say(text === NOT_RUNNING ? text : `${name}: ${text}`);
    },
  });
  for await (const lines of following) {
    complain.reset();
    for (const line of lines.filter(isWanted)) {
      const { at, text: written } = line;
      const shown: LogLine = { functionName: kebabCase(line.function), at, stream: 'stdout', text: written };
      const text = json ? asJson(shown) : format.logLine(shown);
      if (text !== undefined) say(text);
    }
  }
}

/** Says a problem once, however many functions have it, until lines come again. */
function complaints() {
  let last: string | undefined;
  return {
    say(text: string): void {
      if (text !== last) console.error(`Problem: ${printable(text)}`);
      last = text;
    },
    reset(): void {
      last = undefined;
    },
  };
}
