import { parseArgs } from 'node:util';
import { ASSEMBLY_FOLDER } from '../../local/commands/settings.ts';
import { synthesise } from '../../local/template/synthesise.ts';
import { soak } from './soak.ts';

/** `npm run soak -- --deliveries N --seed S`: exit code 1 and the seed on any difference. */
const { values } = parseArgs({
  options: {
    deliveries: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
});
const [deliveries, seed] = [values.deliveries, values.seed].map(Number);
if (!Number.isInteger(deliveries) || !Number.isInteger(seed) || !deliveries || deliveries < 1) {
  console.error('--deliveries and --seed must be whole numbers, and there must be a delivery');
  process.exit(1);
}

console.log(`Seed ${seed}. Synthesising the stack …`);
await synthesise(ASSEMBLY_FOLDER);
const report = await soak({
  assembly: ASSEMBLY_FOLDER,
  deliveries,
  seed: seed ?? 0,
  onProgress: (progress) => console.log(progress),
});
const { differences, ...figures } = report;
console.log(JSON.stringify(figures, undefined, 2));
for (const difference of differences.slice(0, 20)) console.error(difference);
console.log(`${differences.length} differences, seed ${seed}`);
if (differences.length > 0) process.exitCode = 1;
