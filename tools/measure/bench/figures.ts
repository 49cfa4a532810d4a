import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { synthesise } from '../../../local/template/synthesise.ts';
import { type Costs, costs } from '../cost/cost-model.ts';
import { readDeployment } from '../cost/deployment.ts';
import { dollars, totalDollars } from '../cost/line-item.ts';
import { MEASURED_LOG_BYTES } from '../cost/log-bytes.ts';
import { defaultWorkload } from '../cost/workload.ts';
import { consumerBatch } from './consumer-batch.ts';
import { exactly, type Figure } from './figure.ts';
import { firstRequest } from './first-request.ts';
import { localMemory, localThroughput } from './local-stack.ts';
import { moduleLoad } from './module-load.ts';
import { npmStart } from './npm-start.ts';
import { memory, warmRequest } from './running-receiver.ts';

/** Number of line items that are named, largest first. */
const NAMED = 4;

const costMillion = figure(
  'cost-million',
  'dollars a million deliveries, prod with default settings and archive',
  6,
  'deliveries',
);

const costIdle = figure('cost-idle', 'dollars a month without deliveries', 12, 'standing');

let synthesised: Promise<Costs> | undefined;

/** Shared, so that one synthesis serves both figures. */
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
    async measure({ onProgress }) {
      onProgress('synthesises prod');
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

export const FIGURES: readonly Figure[] = [
  moduleLoad,
  firstRequest,
  warmRequest,
  consumerBatch,
  memory,
  costMillion,
  costIdle,
  npmStart,
  localThroughput,
  localMemory,
];
