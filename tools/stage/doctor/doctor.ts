import { styleText } from 'node:util';
import { lines } from '../../terminal/layout.ts';
import { duration } from '../../terminal/text.ts';
import { type Operation, refusalOf } from '../operation.ts';
import { alarmChecks } from './alarms.ts';
import { archiveChecks } from './archive.ts';
import { deploymentChecks, diffCheck } from './deployment.ts';
import { type CheckResult, Inspection, type StageCheck, skipped, warning } from './inspection.ts';
import { keyChecks } from './keys.ts';
import { queueChecks } from './queues.ts';
import { receivingChecks } from './receiving.ts';
import { secretChecks } from './secret.ts';

/** All checks, by the headings under which they are printed. */
export const CHECKS: Readonly<Record<string, readonly StageCheck[]>> = {
  Deployment: deploymentChecks,
  Secret: secretChecks,
  'Alarms and mails': alarmChecks,
  Queues: queueChecks,
  Receiving: receivingChecks,
  Archive: archiveChecks,
  'Keys and certificates': keyChecks,
};

/** Seconds after which a check without an answer is given up. With the rest, the command takes less than a minute. */
const TIME_LIMIT = 50;

/** Seconds for `cdk diff`, which synthesises and reads the account. */
const DIFF_TIME_LIMIT = 300;

/** Checks that run at the same time. Each makes some calls in parallel, and AWS throttles an account's calls. */
const AT_ONCE = 8;

interface CheckedLine extends CheckResult {
  readonly group: string;
  readonly name: string;
}

/** Looks at a stage, and prints what it finds. Changes nothing. @returns false if a check failed */
export async function doctor(
  operation: Operation,
  { json, diff }: { readonly json: boolean; readonly diff: boolean },
): Promise<boolean> {
  const { stack, signal, printLine, width, progress } = operation;
  const started = Date.now();
  const limit = diff ? DIFF_TIME_LIMIT : TIME_LIMIT;
  using inspection = new Inspection(stack, AbortSignal.any([signal, AbortSignal.timeout(limit * 1000)]));
  const checks = Object.entries(CHECKS).flatMap(([group, all]) => all.map((check) => ({ group, check })));
  if (diff) checks.push({ group: 'Deployment', check: diffCheck });
  const found: CheckedLine[][] = [];
  let done = 0;
  const left = checks.entries();
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (const [index, { group, check }] of left) {
      const results = await examine(inspection, check, limit);
      found[index] = results.map((result) => ({ group, name: check.name, ...result }));
      done += 1;
      progress.show({ doing: 'Looking', done, total: checks.length, unit: 'checks' });
    }
  });
  await Promise.all(workers);
  progress.end();
  signal.throwIfAborted();
  const results = found.flat();
  const counts = Map.groupBy(results, ({ state }) => state);
  const count = (state: CheckResult['state']) => counts.get(state)?.length ?? 0;
  const summary = `${count('failure')} failed, ${count('warning')} to look at, ${count('ok')} ok, ${count('skipped')} skipped`;
  if (json) {
    printLine(
      JSON.stringify({ stack: stack.title, at: new Date(started), summary, checks: results }, undefined, 2),
    );
  } else {
    printLine(`${stack.title} (${stack.stackName}), ${new Date(started).toISOString()}`);
    for (const group of Object.keys(CHECKS)) {
      printLine('');
      printLine(styleText('bold', group));
      for (const result of results.filter((one) => one.group === group)) {
        for (const line of resultLines(result, width)) printLine(line);
      }
    }
    printLine('');
    printLine(`${summary}, in ${duration(Date.now() - started)}.`);
  }
  return count('failure') === 0;
}

async function examine(inspection: Inspection, check: StageCheck, limit: number): Promise<CheckResult[]> {
  const { signal, stage } = inspection;
  const late = Promise.withResolvers<CheckResult>();
  const giveUp = () => late.resolve(warning(`no answer within ${limit} s`, NOT_CHECKED));
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp);
  try {
    const results = [await Promise.race([check.look(inspection), late.promise])].flat();
    const advice = { why: check.why, fix: check.fix(inspection) };
    const isFine = ({ state }: CheckResult) => state === 'ok' || state === 'skipped';
    return results.map((result) => (isFine(result) ? result : { ...advice, ...result }));
  } catch (error) {
    return [unchecked(error, check, stage.local)];
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

const NOT_CHECKED = { why: 'The state is unknown.', fix: 'Run the command again.' };

/** How the local AWS endpoint answers what it does not offer. */
const NOT_LOCAL = new Set(['UnknownOperationException', 'UnsupportedService', 'NotImplemented']);

/** @throws the error itself if nothing can be read, because the local stack does not run */
function unchecked(error: unknown, { needs }: StageCheck, local: boolean): CheckResult {
  const { name, message, code } = error as NodeJS.ErrnoException;
  if (local && code === 'ECONNREFUSED') throw error;
  if (local && NOT_LOCAL.has(name)) return skipped('not on the local stack');
  if (name.startsWith('AccessDenied') || name.startsWith('AuthorizationError')) {
    const why = `It needs ${needs.join(', ')}.`;
    return warning(`not checked: ${refusalOf(error, local)}`, {
      why,
      fix: 'docs/permissions.md has the policy',
    });
  }
  return warning(`not checked: ${name}: ${message.split('\n')[0]}`, NOT_CHECKED);
}

const STYLES = { ok: 'green', warning: 'yellow', failure: 'red', skipped: 'gray' } as const;

const STATE_WIDTH = 'failure'.length;

const NAME_WIDTH = Math.max(...Object.values(CHECKS).flatMap((all) => all.map(({ name }) => name.length)));

const INDENT = STATE_WIDTH + NAME_WIDTH + 6;

/** A command is not wrapped, so that it can be pasted. */
function resultLines({ state, name, seen, why, fix }: CheckedLine, width: number): string[] {
  const wrapped = (text: string) => lines(text, Math.max(20, width - INDENT));
  const [first = '', ...rest] = wrapped(seen);
  const more = [...rest, ...(why === undefined ? [] : wrapped(why)), ...(fix ? fix.split('\n') : [])];
  const mark = styleText(STYLES[state], state.padEnd(STATE_WIDTH));
  return [
    `  ${mark}  ${name.padEnd(NAME_WIDTH)}  ${first}`,
    ...more.map((line) => `${' '.repeat(INDENT)}${line}`),
  ];
}
