import { existsSync, readFileSync } from 'node:fs';
import type { DerivedFile } from '../../generate/derived-file.ts';

const PLACE = /(<script type="application\/json" id="document">)[^<]*(<\/script>)/;

/**
 * A page of `docs/api/` with another description in it. What draws the page is in the page already, so that this needs
 * nothing but what is installed with the project.
 * @param document text of JSON
 * @throws Error where the page has no place for it
 */
export function fillDocument(page: string, document: string): string {
  if (!PLACE.test(page)) throw new Error('The page has no <script type="application/json" id="document">');
  // Without a `<` nothing ends the script early, whatever the description says.
  const text = JSON.stringify(JSON.parse(document)).replaceAll('<', String.raw`\u003c`);
  return page.replace(PLACE, (_, start: string, end: string) => `${start}${text}${end}`);
}

/** A page as it is, with the description as it follows from the code. @throws Error where there is no such page */
export function describedPage(file: string, document: string): DerivedFile {
  if (!existsSync(file)) throw new Error(`No file ${file}. Make it with: .ci/check-api --page`);
  return { file, text: fillDocument(readFileSync(file, 'utf8'), document) };
}
