import { place, readDocument } from './document.ts';
import { themeOf } from './webhook-theme.ts';

/** As the script before this one leaves it. */
declare const Redoc: {
  init(document: unknown, options: object, place: HTMLElement, done: (error?: Error) => void): void;
};

const dark = matchMedia('(prefers-color-scheme: dark)');
// Redoc computes its colours once.
dark.addEventListener('change', () => location.reload());

Redoc.init(
  readDocument(),
  {
    theme: themeOf(dark.matches),
    scrollYOffset: '.bar',
    // One endpoint is found without a search, which would run in a worker made of text.
    disableSearch: true,
    // The bar has it.
    hideDownloadButtons: true,
    // The others say in their first line all that most readers need.
    expandResponses: '200,400',
    jsonSamplesExpandLevel: 'all',
    nativeScrollbars: true,
    pathInMiddlePanel: true,
    sanitize: true,
    // The text beside says what a pattern means.
    hideSchemaPattern: true,
  },
  place(),
  (error) => {
    if (error) place().textContent = `The description cannot be shown: ${error.message}`;
  },
);
