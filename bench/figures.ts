import type { Figure } from './figure.ts';
import { firstRequest } from './first-request.ts';
import { moduleLoad } from './module-load.ts';

/** All that is measured, in this order. */
export const FIGURES: readonly Figure[] = [moduleLoad, firstRequest];
