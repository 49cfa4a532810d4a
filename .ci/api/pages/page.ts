import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fillDocument } from '../../../tools/generate/api/page.ts';
import { inlineScript } from './inline.ts';

/** What differs from page to page. */
export interface PageParts {
  readonly title: string;
  /** One line for whoever has just opened it. */
  readonly about: string;
  /** Its own name, which the navigation marks. */
  readonly file: string;
  /** The description that it shows, as text of JSON; its file lies beside the page. */
  readonly document: string;
  readonly documentFile: string;
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
  /** Of what the page has inside. */
  readonly licences: string;
}

const PAGES = { 'webhook.html': 'The webhook', 'messages.html': 'Messages' };

const BAR = readFileSync(new URL('bar.css', import.meta.url), 'utf8');

/** A page of one file, which loads nothing: its policy lets it run its own scripts alone, and connect to nowhere. */
export function makePage(parts: PageParts): string {
  const scripts = parts.scripts.map(inlineScript);
  const hashes = scripts.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  const policy = [
    "default-src 'none'",
    `script-src ${hashes.join(' ')}`,
    // Both renderers write styles as they go.
    "style-src 'unsafe-inline'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const links = Object.entries(PAGES).map(
    ([file, name]) => `<a href="${file}"${file === parts.file ? ' aria-current="page"' : ''}>${name}</a>`,
  );
  const page = `<!doctype html>
<!-- Made by .ci/api/pages/make.ts; the description inside is brought up to date by npm run generate. -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${parts.title}</title>
<link rel="icon" href="data:,">
${[...parts.styles, BAR].map((style) => `<style>\n${style.trim()}\n</style>`).join('\n')}
</head>
<body>
<header class="bar">
<strong>Partner webhooks</strong>
<nav aria-label="Descriptions">${links.join(' ')}</nav>
<span class="about">${parts.about}</span>
<a href="${parts.documentFile}">${parts.documentFile}</a>
</header>
<main id="page"></main>
<noscript>This page is drawn by its own JavaScript. Without it, read ${parts.documentFile}.</noscript>
<script type="application/json" id="document"></script>
${scripts.map((script) => `<script>${script}</script>`).join('\n')}
<script type="text/plain" id="licences">
${inlineScript(parts.licences)}
</script>
</body>
</html>
`;
  return fillDocument(page, parts.document);
}
