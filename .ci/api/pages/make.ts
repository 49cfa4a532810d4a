import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { messagesPage } from './messages.ts';
import { webhookPage } from './webhook.ts';

const FOLDER = resolve(import.meta.dirname, '../../../docs/api');
const read = (file: string) => readFileSync(resolve(FOLDER, file), 'utf8');

/** The pages of docs/api/, as the renderers make them of the descriptions. */
export const makePages = async (): Promise<Readonly<Record<string, string>>> => ({
  'webhook.html': await webhookPage(read('openapi.json')),
  'messages.html': await messagesPage(read('asyncapi.json')),
});

/** `node .ci/api/pages/make.ts` writes them: after another version of a renderer, or a change of these files. */
if (import.meta.main) {
  for (const [file, page] of Object.entries(await makePages())) writeFileSync(resolve(FOLDER, file), page);
}
