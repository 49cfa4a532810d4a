import { readFileSync, writeFileSync } from 'node:fs';
import { messagesPage } from './messages.ts';
import { webhookPage } from './webhook.ts';

/** The pages of docs/api/, as the renderers make them of the descriptions: each text by its file. */
export const makePages = async (): Promise<Readonly<Record<string, string>>> => ({
  'docs/api/webhook.html': await webhookPage(readFileSync('docs/api/openapi.json', 'utf8')),
  'docs/api/messages.html': await messagesPage(readFileSync('docs/api/asyncapi.json', 'utf8')),
});

if (import.meta.main) {
  for (const [file, page] of Object.entries(await makePages())) writeFileSync(file, page);
}
