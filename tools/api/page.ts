import { existsSync, readFileSync } from 'node:fs';
import type { DerivedFile } from '../generate/derived-file.ts';

const PLACE = /(<script type="application\/json" id="document">)[^<]*(<\/script>)/;

/**
 * Replaces the description in a page of `docs/api/`. The page already contains the script that draws it, so Redocly is
 * not needed.
 * @param document text of JSON
 * @throws Error if the page has no element for the description
 */
export function fillDocument(page: string, document: string): string {
  if (!PLACE.test(page)) throw new Error('The page has no <script type="application/json" id="document">');
  // Without a `<`, no description can close the script element early.
  const text = JSON.stringify(JSON.parse(document)).replaceAll('<', String.raw`\u003c`);
  return page.replace(PLACE, (_, start: string, end: string) => `${start}${text}${end}`);
}

/**
 * A page with the current description.
 * @throws Error if there is no such page
 */
export function describedPage(file: string, document: string): DerivedFile {
  if (!existsSync(file)) throw new Error(`No file ${file}. Make it with: .ci/check-api --page`);
  return { file, text: fillDocument(readFileSync(file, 'utf8'), document) };
}
