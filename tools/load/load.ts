import { appendFile, writeFile } from 'node:fs/promises';
import { monthlyCost, totalOf } from '../cost/cost-model.ts';
import { deploymentOf } from '../cost/deployment.ts';
import { defaultWorkload } from '../cost/workload.ts';
import { readContext } from '../local/template/synthesise.ts';
import type { Operation } from '../stage/operation.ts';
import { isThisMachine } from '../stage/stage.ts';
import { UsageError } from '../terminal/command-error.ts';
import { fieldLines } from '../terminal/layout.ts';
import { confirm, requireTerminal } from '../terminal/terminal.ts';
import { EffectReader } from './effects.ts';
import { drawReport } from './picture.ts';
import { deliveriesOf, type LoadPlan } from './plan.ts';
import { describeReport, makeReport } from './report.ts';
import { LoadRun } from './run.ts';

interface LoadOptions {
  readonly plan: LoadPlan;
  readonly url: URL;
  readonly secret: string;
  readonly stage?: string | undefined;
  readonly json?: boolean | undefined;
  readonly picture?: string | undefined;
  readonly dryRun?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

/**
 * Sends the planned deliveries, and prints the report.
 * @returns whether all deliveries were sent at their rate, answered 200 and processed, as far as that is known
 * @throws CommandError if the options are not possible. Nothing was sent then
 */
export async function load(operation: Operation, options: LoadOptions): Promise<boolean> {
  const { signal, printLine, width, stack, progress } = operation;
  const { plan, url, secret, picture, json } = options;
  if (picture?.endsWith('.svg') === false) throw new UsageError(`--picture ${picture} must end in .svg`);
  if (!(await isAgreed(operation, options))) return options.dryRun === true;
  // Creates the file before the run: if the file cannot be written, the result of the run would be lost.
  if (picture !== undefined) await appendFile(picture, '');
  const reader = stack.hasArchive ? await EffectReader.open(operation, plan) : undefined;
  const run = new LoadRun(plan, url);
  await run.send(secret, signal, progress);
  const effects =
    run.ended === undefined ? await reader?.read(run) : { why: 'the run did not wait for them.' };
  const report = makeReport(run, effects ?? { why: `${stack.title} has no known archive.` });
  if (json) printLine(JSON.stringify(report, undefined, 2));
  else for (const line of describeReport(report, width)) printLine(line);
  if (picture !== undefined) await writeFile(picture, drawReport(report));
  return report.succeeded;
}

/** Prints the plan of a run that costs money, and asks. */
async function isAgreed(operation: Operation, options: LoadOptions): Promise<boolean> {
  const { printLine, width, signal, stack, progress } = operation;
  const { plan, url, stage, dryRun, yes, json } = options;
  // A local address may be the end of a tunnel.
  const isElsewhere = !isThisMachine(url) || !stack.local;
  if (!isElsewhere && !dryRun) return true;
  if (isElsewhere && !dryRun && !yes) requireTerminal();
  if (isElsewhere) progress.show({ doing: 'Calculating the cost', done: 0, total: 1 });
  const { rate, seconds, ramp, shops, run } = plan;
  const rates = `${ramp ? 'up to ' : ''}${rate.toLocaleString('en')} a second for ${seconds} s`;
  const shown = [
    ['to', url.href],
    ['deliveries', `${deliveriesOf(plan).toLocaleString('en')}, ${rates}`],
    ['shops', `${shops.toLocaleString('en')}, named load-${run}-shop-0 and so on`],
    ...(isElsewhere ? await forecast(plan, stage) : []),
  ] as const;
  progress.end();
  // With --json, the plan goes to standard error, because standard output contains only the report.
  const print = json ? console.error : printLine;
  for (const line of [`Load on ${stack.title}`, '', ...fieldLines(shown, width)]) print(line);
  if (dryRun) return false;
  if (yes || (await confirm('\nSend them?', signal))) return true;
  print('Nothing was sent.');
  return false;
}

/**
 * The cost of a run in AWS.
 * @param stage whose settings count: `prod` if cdk.json does not have it
 */
async function forecast(plan: LoadPlan, stage = 'prod') {
  const taken = Object.hasOwn(readContext().stages, stage) ? stage : 'prod';
  const deployment = await deploymentOf(taken);
  const workload = { ...defaultWorkload, deliveries: deliveriesOf(plan), mix: plan.mix };
  const dollars = totalOf(monthlyCost(deployment, workload).deliveries);
  const { rate, burst } = deployment.apiThrottle;
  return [
    ['cost', `about $${dollars.toFixed(2)} in us-east-1, as in ${taken}; written items and records stay`],
    ['throttle', `${rate.toLocaleString('en')} a second and ${burst.toLocaleString('en')} at once`],
    ['limits', 'docs/scale-and-cost.md lists what saturates first, and at which rate'],
    ['subscribers', 'unsubscribe everybody first: notifications are sent to all subscribers'],
  ] as const;
}
