import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { RedocStandalone } from 'redoc/src/components/RedocStandalone';
import { place, readDocument } from './document.ts';
import { themeOf } from './webhook-theme.ts';

const dark = matchMedia('(prefers-color-scheme: dark)');
// Redoc computes its colours once.
dark.addEventListener('change', () => location.reload());

createRoot(place()).render(
  createElement(RedocStandalone, {
    spec: readDocument(),
    options: {
      theme: themeOf(dark.matches),
      scrollYOffset: '.bar',
      // One endpoint is found without a search.
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
    onLoaded(error?: Error) {
      if (error) place().textContent = `The description cannot be shown: ${error.message}`;
    },
  }),
);
