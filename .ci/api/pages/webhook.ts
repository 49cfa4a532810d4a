import { readFileSync } from 'node:fs';
import { bundle } from './bundle.ts';
import { licencesOf } from './licences.ts';
import { makePage } from './page.ts';

/** The page of docs/api/openapi.json, drawn by Redoc. */
export async function webhookPage(document: string): Promise<string> {
  const { script, packages } = await bundle('webhook-client.ts');
  return makePage({
    title: 'Partner webhooks: the webhook',
    about: 'What a partner sends us, and what we answer',
    file: 'webhook.html',
    document,
    documentFile: 'openapi.json',
    styles: [readFileSync(new URL('webhook.css', import.meta.url), 'utf8')],
    scripts: [script],
    licences: licencesOf(packages),
  });
}
