import { consumerBatch } from './consumer-batch.ts';
import { costIdle, costMillion } from './cost.ts';
import type { Figure } from './figure.ts';
import { firstRequest } from './first-request.ts';
import { memory } from './memory.ts';
import { moduleLoad } from './module-load.ts';
import { warmRequest } from './warm-request.ts';

/** All that is measured, in this order. */
export const FIGURES: readonly Figure[] = [
  moduleLoad,
  firstRequest,
  warmRequest,
  consumerBatch,
  memory,
  costMillion,
  costIdle,
];
