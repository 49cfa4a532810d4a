import { consumerBatch } from './consumer-batch.ts';
import { costIdle, costMillion } from './cost.ts';
import type { Figure } from './figure.ts';
import { firstRequest } from './first-request.ts';
import { localMemory, localThroughput } from './local-stack.ts';
import { memory } from './memory.ts';
import { moduleLoad } from './module-load.ts';
import { npmStart } from './start.ts';
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
  npmStart,
  localThroughput,
  localMemory,
];
