import AsyncApi from '@asyncapi/react-component/lib/esm/without-parser.js';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { place, readDocument } from './document.ts';
import { parsed } from './parsed-document.ts';

createRoot(place()).render(
  createElement(AsyncApi, {
    schema: parsed(readDocument()),
    config: {
      // Every message and schema is where it is sent; once more by itself would be twice the page.
      show: { sidebar: true, errors: true, messages: false, schemas: false, messageExamples: true },
      expand: { messageExamples: true },
    },
  }),
);
