import { access, constants, writeFile } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { CommandError } from '../../cli/terminal/command-error.ts';
import { confirm, requireTerminal } from '../../cli/terminal/terminal.ts';
import type { Operation } from '../../stage/operation.ts';
import { isThisMachine, type Stage } from '../../stage/stage.ts';
import { deploymentOf } from '../cost/deployment.ts';
import { type Effect, EffectReader } from './effect.ts';
import { describeForecast, takenStage } from './forecast.ts';
import { drawReport } from './picture.ts';
import type { LoadPlan } from './plan.ts';
import { makeReport, type Unread } from './report.ts';
import { describeReport } from './report-text.ts';
import { type Run, runLoad } from './run.ts';

interface LoadOptions {
  readonly plan: LoadPlan;
  readonly url: URL;
  readonly secret: string;
  readonly stage?: string | undefined;
  readonly json: boolean;
  /** The file to draw into. */
  readonly picture?: string | undefined;
  /** Stops after the plan. */
  readonly dryRun: boolean;
  /** Skips the question. */
  readonly yes: boolean;
}

/** The stack whose archive shows the results. Without it, they are unknown. */
export type LoadOperation = Omit<Operation, 'stack'> & { readonly stack: Stage | undefined };

/**
 * Sends the planned deliveries, and prints the report.
 * @returns whether all deliveries were sent at their rate, answered 200 and processed, as far as that is known
 * @throws CommandError if the options are not possible; nothing was sent then
 */
export async function load(operation: LoadOperation, options: LoadOptions): Promise<boolean> {
  const { signal, printLine, width, progress, stack } = operation;
  const { plan, url, picture } = options;
  if (picture !== undefined) await requireWritable(picture);
  if (!(await agreed(operation, options))) return options.dryRun;
  const reader = await openReader(operation, plan);
  const run = await runLoad({ plan, url, secret: options.secret, signal, progress, warn: console.error });
  const effect = await effectOf(reader, run, stack);
  const report = makeReport(run, effect);
  if (options.json) printLine(JSON.stringify(report, undefined, 2));
  else for (const line of describeReport(report, width)) printLine(line);
  if (picture !== undefined) await writeFile(picture, drawReport(report));
  return report.succeeded;
}

/** Prints the forecast of a run that costs money, and asks. */
async function agreed(operation: LoadOperation, options: LoadOptions): Promise<boolean> {
  const { printLine, width, signal, stack } = operation;
  const { plan, url, stage, dryRun, yes, json } = options;
  // A local address may be the end of a tunnel.
  const isElsewhere = !isThisMachine(url) || stack?.local === false;
  if (!isElsewhere && !dryRun) return true;
  if (isElsewhere && !dryRun && !yes) requireTerminal();
  if (isElsewhere) console.error('Synthesising the stage to calculate the cost …');
  const taken = takenStage(stage);
  const deployment = isElsewhere ? await deploymentOf(taken) : undefined;
  const takenAs = taken === stage ? undefined : taken;
  const destination = { title: stack?.title ?? url.host, url, deployment, takenAs };
  // With --json, standard output contains only the report.
  const print = json ? console.error : printLine;
  for (const line of describeForecast(plan, destination, width)) print(line);
  if (dryRun) return false;
  print('');
  if (yes || (await confirm('Send them?', signal))) return true;
  print('Nothing was sent.');
  return false;
}

async function openReader(operation: LoadOperation, plan: LoadPlan): Promise<EffectReader | undefined> {
  const { stack } = operation;
  if (stack?.outputs.ArchiveBucket === undefined) return undefined;
  return EffectReader.open({ ...operation, stack }, plan);
}

async function effectOf(
  reader: EffectReader | undefined,
  run: Run,
  stack: Stage | undefined,
): Promise<Effect | Unread> {
  if (stack === undefined) {
    return { why: 'effects are read from the archive of the stack: name it with --stage or --outputs.' };
  }
  if (reader === undefined) {
    return {
      why: `${stack.title} keeps no archive (archive.days is 0); the dashboard shows its EffectLatency.`,
    };
  }
  if (run.ended !== undefined) return { why: 'the run did not wait for effects.' };
  return reader.read(run);
}

/** @throws CommandError if the picture could not be written after the run */
async function requireWritable(file: string): Promise<void> {
  if (extname(file) !== '.svg')
    throw new CommandError(`The picture is an SVG: --picture ${file} must end in .svg`);
  try {
    await access(dirname(file), constants.W_OK);
  } catch {
    throw new CommandError(`There is no folder ${dirname(file)} for the picture, or it cannot be written to`);
  }
}
