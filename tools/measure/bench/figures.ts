import { type MonthlyCost, monthlyCost, totalOf } from '../cost/cost-model.ts';
import { deploymentOf } from '../cost/deployment.ts';
import { consumerBatch } from './consumer-batch.ts';
import { exactly, type Figure } from './figure.ts';
import { firstRequest } from './first-request.ts';
import { localMemory, localThroughput } from './local-stack.ts';
import { moduleLoad } from './module-load.ts';
import { npmStart } from './npm-start.ts';
import { memory, warmRequest } from './running-receiver.ts';

/** Number of services that are named, the most expensive first. */
const NAMED = 4;

const costMillion = figure(
  'cost-million',
  'dollars a million deliveries, prod with default settings and archive',
  6,
  'deliveries',
);

const costIdle = figure('cost-idle', 'dollars a month without deliveries', 12, 'standing');

/** Shared, so that one synthesis serves both figures. */
let prod: Promise<MonthlyCost> | undefined;

function figure(name: string, title: string, atMost: number, of: keyof MonthlyCost): Figure {
  return {
    name,
    title,
    goal: { atMost },
    unit: '$',
    async measure({ onProgress }) {
      onProgress('synthesises prod');
      prod ??= deploymentOf('prod').then((deployment) => monthlyCost(deployment));
      const bill = (await prod)[of];
      const largest = Object.entries(bill).sort(([, one], [, other]) => other - one);
      return {
        ...exactly(totalOf(bill)),
        made: largest
          .slice(0, NAMED)
          .map(([service, dollars]) => `${service} ${dollars.toFixed(2)}`)
          .join(', '),
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
