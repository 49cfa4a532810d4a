import { readFileSync } from 'node:fs';
import { bundle } from '../pages/bundle.ts';
import { inlineScript } from '../pages/inline.ts';
import { nameOf, noticesOf } from '../pages/licences.ts';

/** What each page runs. */
const SCRIPTS = {
  'docs/api/webhook.html': 'webhook-client.ts',
  'docs/api/messages.html': 'messages-client.ts',
};

/**
 * Packages that have something in a page, and not their notices, a line for each. First what has no notice on purpose
 * has to be found.
 */
export async function checkNotices(): Promise<string[]> {
  const problems: string[] = [];
  for (const [file, script] of Object.entries(SCRIPTS)) {
    const page = readFileSync(file, 'utf8');
    const { packages } = await bundle(script);
    const missing = (text: string) => [...packages].filter((folder) => !hasNotices(text, folder)).map(nameOf);
    for (const damaged of [page.replaceAll(/^react \d.*$/gm, ''), page.replaceAll('Meta Platforms', '')]) {
      if (!missing(damaged).some((name) => /^react \d/.test(name))) {
        problems.push(`Nothing finds that the notice of react is missing in ${file}`);
      }
    }
    problems.push(...missing(page).map((name) => `${file} has no notice of ${name}`));
  }
  return problems;
}

const hasNotices = (page: string, folder: string): boolean =>
  page.includes(`\n${nameOf(folder)} (`) &&
  noticesOf(folder).every((text) => page.includes(inlineScript(text)));
