import { once } from 'node:events';
import { styleText } from 'node:util';
import { lines } from '../../terminal/layout.ts';
import { duration } from '../../terminal/text.ts';
import { type Operation, refusalOf } from '../operation.ts';
import { describeCurrent, describePrevious, secretVersions } from '../secret-versions.ts';
import { alarmChecks } from './alarms.ts';
import { deploymentChecks } from './deployment.ts';
import { type CheckResult, Inspection, type StageCheck, skipped, warning } from './inspection.ts';
import { receivingChecks } from './receiving.ts';

const secretChecks: readonly StageCheck[] = [
  {
    name: 'current version',
    needs: ['secretsmanager:GetSecretValue'],
    run: async ({ stage }) => describeCurrent(stage, await secretVersions(stage)),
  },
  {
    name: 'previous version',
    needs: ['secretsmanager:GetSecretValue'],
    run: async ({ stage }) => describePrevious(await secretVersions(stage)),
  },
];

/** All checks, by the headings under which they are printed. */
export const CHECKS: Readonly<Record<string, readonly StageCheck[]>> = {
  Deployment: deploymentChecks,
  Secret: secretChecks,
  'Alarms and mails': alarmChecks,
  Receiving: receivingChecks,
};

/** Everything that the checks may call. All of it only reads. */
export const DOCTOR_ACTIONS = [
  ...new Set(
    Object.values(CHECKS)
      .flat()
      .flatMap(({ needs }) => needs),
  ),
].sort();

/** Seconds after which a check without an answer is given up. */
const TIME_LIMIT = 50;

type CheckedLine = CheckResult & { readonly group: string; readonly name: string };

/**
 * Checks a stage, and prints what it finds. Changes nothing.
 * @returns false if a check failed
 */
export async function doctor(
  { stack, signal, printLine, width, progress }: Operation,
  { json }: { readonly json: boolean },
): Promise<boolean> {
  const started = new Date();
  const late = new AbortController();
  const inspection = new Inspection(stack, AbortSignal.any([signal, late.signal]));
  // Before the limit begins, because a synthesis takes long on a busy machine. A check reports its error.
  if (!inspection.isLocalStack) await inspection.code().catch(() => undefined);
  setTimeout(() => late.abort(), TIME_LIMIT * 1000).unref();
  const checks = Object.entries(CHECKS).flatMap(([group, all]) => all.map((check) => ({ group, check })));
  let done = 0;
  const running = checks.map(async ({ group, check }): Promise<CheckedLine[]> => {
    const found = await examine(inspection, check);
    done += 1;
    progress.show({ doing: 'Checking', done, total: checks.length, unit: 'checks' });
    return found.map(({ state, seen, why, fix }) => ({ group, name: check.name, state, seen, why, fix }));
  });
  const results = (await Promise.all(running)).flat();
  progress.end();
  signal.throwIfAborted();
  const count = (wanted: CheckResult['state']) => results.filter(({ state }) => state === wanted).length;
  const summary = `${count('failure')} failed, ${count('warning')} with a warning, ${count('ok')} ok, ${count('skipped')} skipped`;
  if (json) {
    printLine(JSON.stringify({ stack: stack.title, at: started, summary, checks: results }, undefined, 2));
  } else {
    printLine(`${stack.title} (${stack.stackName}), ${started.toISOString()}`);
    for (const [group, lines] of Map.groupBy(results, (line) => line.group)) {
      printLine(`\n${styleText('bold', group)}`);
      for (const line of lines.flatMap((each) => resultLines(each, width))) printLine(line);
    }
    if (inspection.isLocalStack && results.some(({ fix }) => fix?.startsWith('aws '))) {
      printLine('\nThe aws commands need the settings of docs/operations.md, "The local stack".');
    }
    printLine(`\n${summary}, in ${duration(Date.now() - started.getTime())}.`);
  }
  return count('failure') === 0;
}

const NOT_CHECKED = { why: 'The state is unknown.', fix: 'Run the command again.' };

/** A check that is given up goes on until the process ends. */
async function examine(inspection: Inspection, check: StageCheck): Promise<CheckResult[]> {
  const { signal, stage } = inspection;
  const late = warning(`no answer within ${TIME_LIMIT} s`, NOT_CHECKED);
  try {
    const results = await Promise.race([check.run(inspection), aborted(signal).then(() => late)]);
    const isFine = ({ state }: CheckResult) => state === 'ok' || state === 'skipped';
    const { why, fix } = check;
    return [results].flat().map((one) => (isFine(one) ? one : { why, fix: fix?.(inspection), ...one }));
  } catch (error) {
    return [signal.aborted ? late : unchecked(error, check, stage.local)];
  }
}

const aborted = async (signal: AbortSignal) => signal.aborted || once(signal, 'abort');

/** How the local AWS endpoint answers what it does not offer. */
const NOT_LOCAL = new Set(['UnknownOperationException', 'UnsupportedService', 'NotImplemented']);

/** @throws the error itself if nothing can be read, because the local stack does not run */
function unchecked(error: unknown, { needs }: StageCheck, local: boolean): CheckResult {
  const { name, message, code } = error as NodeJS.ErrnoException;
  if (local && code === 'ECONNREFUSED') throw error;
  if (local && NOT_LOCAL.has(name)) return skipped('not on the local stack');
  if (!/^(AccessDenied|AuthorizationError)/.test(name)) {
    return warning(`not checked: ${name}: ${message.split('\n')[0]}`, NOT_CHECKED);
  }
  const why = `It needs ${needs.join(', ')}.`;
  return warning(`not checked: ${refusalOf(error, local)}`, { why, fix: 'docs/permissions.md, "doctor"' });
}

const STYLES = { ok: 'green', warning: 'yellow', failure: 'red', skipped: 'gray' } as const;

const NAME_WIDTH = Math.max(...Object.values(CHECKS).flatMap((all) => all.map(({ name }) => name.length)));

/** Columns before the text of a result: the state, the name, and two spaces around each. */
const INDENT = 'failure'.length + NAME_WIDTH + 6;

/** A command is not wrapped, so that it can be pasted. */
function resultLines({ state, name, seen, why = '', fix = '' }: CheckedLine, width: number): string[] {
  const wrapped = [seen, why].filter(Boolean).flatMap((text) => lines(text, Math.max(20, width - INDENT)));
  const [first = '', ...rest] = wrapped;
  const mark = styleText(STYLES[state], state.padEnd('failure'.length));
  const line = `  ${mark}  ${name.padEnd(NAME_WIDTH)}  ${first}`;
  const below = [...rest, ...(fix === '' ? [] : [styleText('cyan', fix)])];
  return [
    state === 'skipped' ? styleText('gray', line) : line,
    ...below.map((text) => `${' '.repeat(INDENT)}${text}`),
  ];
}
