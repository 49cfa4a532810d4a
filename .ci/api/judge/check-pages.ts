import { readFileSync } from 'node:fs';
import { Parser } from '@asyncapi/parser';
import { makePages } from '../pages/make.ts';
import { parsed } from '../pages/parsed-document.ts';

const ASYNCAPI = 'docs/api/asyncapi.json';

/** What the parser notes for itself, and no renderer shows. */
const NOTED = /^<anonymous-(schema|message)-\d+>$/;

/** What is wrong with the pages of docs/api/, a line for each finding. */
export async function checkPages(): Promise<string[]> {
  const problems: string[] = [];
  for (const [file, page] of Object.entries(await makePages())) {
    if (readFileSync(file, 'utf8') !== page) {
      problems.push(`${file} is not what its renderer makes. Make it: .ci/check-api --pages`);
    }
  }
  const text = readFileSync(ASYNCAPI, 'utf8');
  const { document } = await new Parser().parse(text);
  if (comparable(document?.json()) !== comparable(parsed(JSON.parse(text)))) {
    problems.push(
      'The page of messages reads asyncapi.json otherwise than the parser: pages/parsed-document.ts',
    );
  }
  return problems;
}

/** As text, without the names that the parser gives to what has none, and whatever the order of keys. */
function comparable(document: unknown): string {
  return JSON.stringify(document, (key, value: unknown) => {
    if (key === 'x-parser-message-name') return undefined;
    if (key === 'x-parser-schema-id' && NOTED.test(String(value))) return undefined;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
