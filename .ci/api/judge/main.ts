import { readFileSync } from 'node:fs';
import { makePage, PAGE } from '../page/make.ts';
import { checkClients } from './check-clients.ts';
import { checkDescriptions } from './check-descriptions.ts';

const checkPage = () =>
  readFileSync(PAGE, 'utf8') === makePage()
    ? []
    : [`${PAGE} is not what Redocly makes. Make it: .ci/check-api --page`];

const CHECKS = {
  'descriptions are valid': checkDescriptions,
  'the page is what Redocly makes': checkPage,
  'generated clients post an event': checkClients,
};

for (const [what, check] of Object.entries(CHECKS)) {
  const started = performance.now();
  const problems = await check();
  for (const problem of problems) console.error(problem);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${problems.length === 0 ? 'ok' : 'FAILED'}: ${what} (${seconds} s)`);
  if (problems.length > 0) process.exitCode = 1;
}
