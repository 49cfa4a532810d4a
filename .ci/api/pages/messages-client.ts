import AsyncApi from '@asyncapi/react-component/lib/esm/without-parser.js';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { place, readDocument } from './document.ts';
import { parsed } from './parsed-document.ts';

createRoot(place()).render(
  createElement(AsyncApi, {
    schema: parsed(readDocument()),
    config: {
      show: { sidebar: true, errors: true, messageExamples: true },
      expand: { messageExamples: true },
      sidebar: { useChannelAddressAsIdentifier: true },
    },
  }),
);
