import { defaultWorkload } from '../../cost/workload.ts';
import type { LoadPlan } from '../../load/plan.ts';

/** A load plan. By default 100 deliveries a second, for one second. */
export const planned = (given: Partial<LoadPlan> = {}): LoadPlan => ({
  rate: 100,
  seconds: 1,
  ramp: false,
  mix: defaultWorkload.mix,
  shops: 10,
  connections: 1_000,
  run: '0a1b2c3d',
  ...given,
});
