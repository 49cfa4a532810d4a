import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { bundle } from './bundle.ts';
import { licencesOf, withDependencies } from './licences.ts';
import { makePage } from './page.ts';

const REDOC = resolve(import.meta.dirname, '../node_modules/redoc');

/** Redoc shows its maker's logo from its maker's server: the one thing that it loads from elsewhere. */
const LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

/** A picture without anything in it. */
const NO_PICTURE = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>";

/** The page of docs/api/openapi.json, drawn by Redoc. */
export async function webhookPage(document: string): Promise<string> {
  const redoc = readFileSync(`${REDOC}/bundles/redoc.standalone.js`, 'utf8');
  if (redoc.split(LOGO).length !== 2)
    throw new Error(`Redoc no longer has ${LOGO} once: see what it loads now`);
  const { script } = await bundle('webhook-client.ts');
  return makePage({
    title: 'Partner webhooks: the webhook',
    about: 'What a partner sends us, and what we answer',
    file: 'webhook.html',
    document,
    documentFile: 'openapi.json',
    styles: [readFileSync(new URL('webhook.css', import.meta.url), 'utf8')],
    scripts: [redoc.replace(LOGO, NO_PICTURE), script],
    licences: [
      readFileSync(`${REDOC}/bundles/redoc.standalone.js.LICENSE.txt`, 'utf8').trim(),
      licencesOf(withDependencies(REDOC)),
    ].join('\n\n----\n\n'),
  });
}
