import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readContext, synthesise } from '../../../local/template/synthesise.ts';
import { facts } from '../../cli/terminal/layout.ts';
import { duration } from '../../cli/terminal/text.ts';
import { costs } from '../cost/cost-model.ts';
import { type Deployment, readDeployment } from '../cost/deployment.ts';
import { totalDollars } from '../cost/line-item.ts';
import { MEASURED_LOG_BYTES } from '../cost/log-bytes.ts';
import { limits, narrowLimits } from '../cost/scale-model.ts';
import { ACCOUNT_CONCURRENCY, defaultWorkload } from '../cost/workload.ts';
import { deliveriesOf, type LoadPlan } from './plan.ts';

/** Share of a limit that a test should stay below: `docs/scale-and-cost.md`, "Testing under load". */
const NEAR = 0.7;

/** The stage whose template is used: `prod` if no name is given, or if cdk.json does not know it. */
export function takenStage(stage: string | undefined): string {
  return stage !== undefined && Object.hasOwn(readContext().stages, stage) ? stage : 'prod';
}

/** @param stage one that cdk.json knows */
export async function deploymentOf(stage: string): Promise<Deployment> {
  const folder = await mkdtemp(join(tmpdir(), 'load-'));
  try {
    await synthesise(folder, { stage });
    return readDeployment(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

export interface Destination {
  readonly title: string;
  readonly url: URL;
  /** Only for a stage in AWS, where a run costs money. */
  readonly deployment: Deployment | undefined;
  /** The stage of the deployment, if it is not the named one. */
  readonly takenAs?: string | undefined;
}

/** Facts to know before a run. For a stage, also its cost and the limits that it reaches. */
export function describeForecast(
  plan: LoadPlan,
  { title, url, deployment, takenAs }: Destination,
  width: number,
): string[] {
  const deliveries = deliveriesOf(plan);
  return [
    `Load on ${title}`,
    '',
    ...facts(
      [
        ['to', url.href],
        [
          'deliveries',
          `${count(deliveries)}, ${plan.ramp ? 'up to ' : ''}${count(plan.rate)} a second for ${duration(plan.seconds * 1_000)}`,
        ],
        ['shops', `${count(plan.shops)}, named load-${plan.run}-shop-0 and so on`],
        ...(deployment === undefined ? [] : forecast(plan, deployment, takenAs)),
      ],
      width,
    ),
  ];
}

function forecast(
  plan: LoadPlan,
  deployment: Deployment,
  takenAs: string | undefined,
): (readonly [string, string])[] {
  const deliveries = deliveriesOf(plan);
  const workload = { ...defaultWorkload, deliveries, mix: plan.mix };
  const total = totalDollars(costs(workload, deployment, MEASURED_LOG_BYTES).deliveries);
  const full = limits(workload, deployment, ACCOUNT_CONCURRENCY);
  const near = full.filter(({ deliveries: at }) => plan.rate > at * NEAR);
  const [first] = full;
  const people = narrowLimits(workload).filter(
    ({ deliveries: at, name }) => plan.rate > at && /^(SNS|Slack)/.test(name),
  );
  const { rate, burst } = deployment.apiThrottle;
  return [
    ...(takenAs === undefined
      ? []
      : [
          [
            'taken as',
            `${takenAs}: its cost, limits and throttle, as cdk.json does not know this stage`,
          ] as const,
        ]),
    [
      'cost',
      `about $${total.toFixed(2)} in us-east-1, calculated like npm run cost; written items and records stay`,
    ],
    ...near.map(
      ({ name, deliveries: at, consequence }) =>
        ['limit', `${name}, at ${count(Math.floor(at))} a second: ${consequence}`] as const,
    ),
    ...(near.length > 0 || first === undefined
      ? []
      : [
          [
            'limits',
            `below ${NEAR * 100} % of each; the first is ${first.name}, at ${count(Math.floor(first.deliveries))} a second`,
          ] as const,
        ]),
    [
      'throttle',
      `${count(rate)} a second and ${count(burst)} at once, from cdk.json; all APIs of the account share its quota`,
    ],
    ...people.map(({ name, consequence }) => ['people', `${name}: ${consequence}`] as const),
    ['subscribers', 'unsubscribe everybody first: each of these is sent to all subscribers'],
  ];
}

const count = (value: number) => value.toLocaleString('en');
