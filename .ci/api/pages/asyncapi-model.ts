/** What the renderer uses of `@asyncapi/parser`: the model of a document, without its parser. */
export {
  isAsyncAPIDocument,
  isOldAsyncAPIDocument,
  toAsyncAPIDocument,
} from '@asyncapi/parser/esm/document.js';
export { Schema as SchemaV2 } from '@asyncapi/parser/esm/models/v2/schema.js';
export { unstringify } from '@asyncapi/parser/esm/stringify.js';
