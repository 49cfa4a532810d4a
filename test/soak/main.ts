import { parseArgs } from 'node:util';
import { synthesise } from '../../local/template/synthesise.ts';
import { ASSEMBLY_FOLDER } from '../../tools/operate/settings.ts';
import { surviveKills } from './kills.ts';
import { surviveOutage } from './outage.ts';
import { soak } from './soak.ts';

/** What can be asked of `npm run soak`, and what is done where nothing is. */
const options = {
  deliveries: { type: 'string', default: '20000' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  kills: { type: 'string' },
  outage: { type: 'string' },
} as const;

/** Exit code 1, and the seed, on any difference. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options });
  const numbers = Object.fromEntries(
    Object.entries(values).map(([name, text]) => [name, wholeNumber(name, text)]),
  );
  const { deliveries = 0, seed = 0, kills, outage } = numbers;
  await synthesise(ASSEMBLY_FOLDER);
  if (kills !== undefined) {
    const report = await surviveKills({
      assembly: ASSEMBLY_FOLDER,
      kills,
      reviewsPerKill: 10,
      visibilitySeconds: 5,
    });
    finish(report, report.lost);
  } else if (outage !== undefined) {
    const report = await surviveOutage({ assembly: ASSEMBLY_FOLDER, seconds: outage, deliveries: 200 });
    finish(report, report.deliveries - report.processed + report.deadLetters);
  } else {
    const { differences, ...figures } = await soak({
      assembly: ASSEMBLY_FOLDER,
      deliveries,
      seed,
      onProgress: console.log,
    });
    for (const difference of differences.slice(0, 20)) console.error(difference);
    finish(figures, differences.length);
  }
}

function finish(report: object, differences: number): void {
  console.log(JSON.stringify({ ...report, differences }, undefined, 2));
  if (differences > 0) process.exitCode = 1;
}

function wholeNumber(name: string, text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new Error(`--${name} must be a whole number from 1, not '${text}'`);
}

main().catch((error: Error) => {
  console.error(error.message);
  process.exit(1);
});
