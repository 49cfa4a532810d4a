import { readContext } from '../../../local/template/synthesise.ts';
import { facts } from '../../cli/terminal/layout.ts';
import { duration } from '../../cli/terminal/text.ts';
import { monthlyCost, totalOf } from '../cost/cost-model.ts';
import type { Deployment } from '../cost/deployment.ts';
import { defaultWorkload } from '../cost/workload.ts';
import { deliveriesOf, type LoadPlan } from './plan.ts';

/** The stage whose template is used: `prod` if no name is given, or if cdk.json does not know it. */
export function takenStage(stage: string | undefined): string {
  return stage !== undefined && Object.hasOwn(readContext().stages, stage) ? stage : 'prod';
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
  const workload = { ...defaultWorkload, deliveries: deliveriesOf(plan), mix: plan.mix };
  const total = totalOf(monthlyCost(deployment, workload).deliveries);
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
    ['limits', 'docs/scale-and-cost.md lists what saturates first, and at which rate'],
    [
      'throttle',
      `${count(rate)} a second and ${count(burst)} at once, from cdk.json; all APIs of the account share its quota`,
    ],
    ['subscribers', 'unsubscribe everybody first: each of these is sent to all subscribers'],
  ];
}

const count = (value: number) => value.toLocaleString('en');
