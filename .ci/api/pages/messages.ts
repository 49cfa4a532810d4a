import { readFileSync } from 'node:fs';
import { bundle } from './bundle.ts';
import { licencesOf } from './licences.ts';
import { makePage } from './page.ts';

const RENDERER = new URL('../node_modules/@asyncapi/react-component/', import.meta.url);

/** The page of docs/api/asyncapi.json, drawn by AsyncAPI's React component. */
export async function messagesPage(document: string): Promise<string> {
  const { script, packages } = await bundle('messages-client.ts');
  return makePage({
    title: 'Partner webhooks: messages',
    about: 'What is on our queues, and what subscribers of our topics get',
    file: 'messages.html',
    document,
    documentFile: 'asyncapi.json',
    styles: [
      readFileSync(new URL('styles/default.min.css', RENDERER), 'utf8'),
      readFileSync(new URL('messages.css', import.meta.url), 'utf8'),
    ],
    scripts: [script],
    licences: licencesOf(packages),
  });
}
