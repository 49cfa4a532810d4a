import type { Figure } from './figure.ts';
import { localMemory, localThroughput } from './local-stack.ts';
import { moduleLoad } from './module-load.ts';
import { npmStart } from './start.ts';

/** All that is measured, in this order. */
export const FIGURES: readonly Figure[] = [moduleLoad, npmStart, localThroughput, localMemory];
