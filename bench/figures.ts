import { consumerBatch } from './consumer-batch.ts';
import { costIdle, costMillion } from './cost.ts';
import type { Figure } from './figure.ts';
import { moduleLoad } from './module-load.ts';

/** All that is measured, in this order. */
export const FIGURES: readonly Figure[] = [moduleLoad, consumerBatch, costMillion, costIdle];
