import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { synthesise } from '../../../local/template/synthesise.ts';
import { type Costs, costs } from '../cost/cost-model.ts';
import { readDeployment } from '../cost/deployment.ts';
import { dollars, totalDollars } from '../cost/line-item.ts';
import { MEASURED_LOG_BYTES } from '../cost/log-bytes.ts';
import { defaultWorkload } from '../cost/workload.ts';
import { exactly, type Figure } from './figure.ts';

/** Line items that are named as what the sum is mostly made of. */
const NAMED = 4;

/** What a million deliveries cost in `prod` as it is by default, its archive included. */
export const costMillion = figure(
  'cost-million',
  'dollars a million deliveries, prod as it is by default, archive included',
  6,
  'deliveries',
);

/** What a month costs in which nothing comes. */
export const costIdle = figure('cost-idle', 'dollars a month without any', 12, 'standing');

let synthesised: Promise<Costs> | undefined;

/** Of one synthesis for both. */
async function ofProd(): Promise<Costs> {
  const folder = mkdtempSync(join(tmpdir(), 'cost-'));
  try {
    await synthesise(folder, { stage: 'prod' });
    return costs(defaultWorkload, readDeployment(folder), MEASURED_LOG_BYTES);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function figure(name: string, title: string, atMost: number, of: keyof Costs): Figure {
  return {
    name,
    title,
    goal: { atMost },
    unit: '$',
    async measure({ say }) {
      say('synthesises prod');
      synthesised ??= ofProd();
      const items = (await synthesised)[of];
      const largest = items.toSorted((one, other) => dollars(other) - dollars(one)).slice(0, NAMED);
      return {
        ...exactly(totalDollars(items)),
        made: largest.map((line) => `${line.item} ${dollars(line).toFixed(2)}`).join(', '),
      };
    },
  };
}
