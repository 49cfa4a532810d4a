import { Argument, Option } from '@commander-js/extra-typings';
import { didYouMean } from '../../lib/did-you-mean.ts';
import {
  FAULT_SERVICES,
  FAULT_WAYS,
  type FaultService,
  faultTitle,
  MAX_DELAY_MS,
  waysOf,
} from '../stage/faults.ts';
import { CONSOLE_FILE } from '../stage/local-folder.ts';
import { type Operation, type RunOperation, runOperation } from '../stage/operation.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { CommandError, UsageError } from '../terminal/command-error.ts';
import { readJson } from '../terminal/files.ts';
import { wholeNumber } from '../terminal/options.ts';
import { counted } from '../terminal/text.ts';

const SERVICES = Object.keys(FAULT_SERVICES);

export const faultCommand = (runOperation: RunOperation) =>
  hookctlCommand('fault', 'Breaks a service of the local stack in one way, until you clear it.')
    .usage('<service> <how> [options] | list | clear [id]')
    .addArgument(new Argument('<service>', `${SERVICES.join(', ')}; or list, or clear`))
    .addArgument(new Argument('[how]', `${Object.keys(FAULT_WAYS).join(', ')}; for clear: the id of a fault`))
    .addOption(
      new Option('--share <percent>', 'share of calls affected').argParser(wholeNumber(1, 100)).default(100),
    )
    .addOption(new Option('--delay <ms>', 'delay of slow').argParser(wholeNumber(1, MAX_DELAY_MS)))
    .action((service, how, { share, delay }) =>
      runOperation({}, (operation) => {
        const words = how === undefined ? [service] : [service, how];
        const options = ['--share', share, ...(delay === undefined ? [] : ['--delay', delay])].map(String);
        return operation.localStack === undefined
          ? runInConsole(operation, ['fault', ...words, ...options])
          : runHere(operation, operation.localStack.faults, words, { share, delay });
      }),
    );

export const command = faultCommand(runOperation);

type Faults = NonNullable<Operation['localStack']>['faults'];

interface FaultOptions {
  readonly share: number;
  readonly delay: number | undefined;
}

async function runHere(
  { printLine }: Operation,
  faults: Faults,
  [service = '', how]: readonly string[],
  options: FaultOptions,
): Promise<void> {
  if (service === 'list') {
    for (const fault of faults.active) {
      printLine(`${fault.id}  ${faultTitle(fault)}: ${counted(fault.hits, 'call')} affected`);
    }
    if (faults.active.length === 0) printLine('No service is broken');
  } else if (service === 'clear') {
    if (how === undefined) faults.clear();
    else if (!faults.end(how))
      throw new CommandError(`There is no fault ${how}. See: npx hookctl fault list`);
    printLine('Cleared');
  } else {
    faults.inject(faultOf(service, how, options));
    for (const fault of faults.active.slice(-1)) {
      printLine(`${faultTitle(fault)}. End it with: npx hookctl fault clear ${fault.id}`);
    }
  }
}

/** @throws UsageError if the service cannot be broken in this way */
function faultOf(service: string, how: string | undefined, { share, delay }: FaultOptions) {
  if (!isService(service)) throw new UsageError(unknown('service', service, SERVICES));
  const ways = waysOf(service);
  const way = how === undefined || !ways.includes(how) ? undefined : FAULT_WAYS[how];
  if (way === undefined) throw new UsageError(unknown('way', how ?? '', ways));
  if ((way.kind === 'slow') !== (delay !== undefined)) {
    throw new UsageError('slow needs --delay, and --delay is only for slow');
  }
  const milliseconds = delay === undefined ? {} : { milliseconds: delay };
  return { service, kind: way.kind, share: share / 100, ...milliseconds };
}

const isService = (name: string): name is FaultService => SERVICES.includes(name);

const unknown = (what: string, name: string, names: readonly string[]) =>
  `No ${what} '${name}'.${didYouMean(name, names)} One of: ${names.join(', ')}`;

/** Faults are in the process of the local stack. Its console runs this command there. */
async function runInConsole({ printLine, signal }: Operation, argv: readonly string[]): Promise<boolean> {
  const { cookieName } = await import('../console/server/guard.ts');
  const { url, token } = readJson(CONSOLE_FILE) as { url: string; token: string };
  const cookie = `${cookieName(Number(new URL(url).port))}=${token}`;
  const answer = await fetch(new URL('/api/commands', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie },
    body: JSON.stringify({ argv }),
    signal,
  });
  const [last = ''] = (await answer.text()).trimEnd().split('\n').slice(-1);
  const run = JSON.parse(last) as { detail?: string; state?: string; lines?: readonly string[] };
  if (!answer.ok) throw new CommandError(run.detail ?? `The console answered ${answer.status}`);
  for (const line of run.lines ?? []) printLine(line);
  return run.state === 'done';
}
