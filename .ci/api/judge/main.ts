import { checkClient } from './check-client.ts';
import { checkDescriptions } from './check-descriptions.ts';
import { checkNotices } from './check-notices.ts';
import { checkPages } from './check-pages.ts';

const CHECKS = {
  'descriptions hold': checkDescriptions,
  'pages are what the renderers make': checkPages,
  'pages have the notices of what is inside': checkNotices,
  'a generated client posts an event': checkClient,
};

for (const [what, check] of Object.entries(CHECKS)) {
  const started = performance.now();
  const problems = await check();
  for (const problem of problems) console.error(problem);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${problems.length === 0 ? 'ok' : 'FAILED'}: ${what} (${seconds} s)`);
  if (problems.length > 0) process.exitCode = 1;
}
