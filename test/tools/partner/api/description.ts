import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import * as formats from 'ajv-formats';

/** Any part of a description. */
export type Part = { readonly [key: string]: unknown };

/** One of the documents, with the schemas that it has. */
export class Description {
  readonly document: Part;
  readonly #ajv = new Ajv2020({ strict: false });

  constructor(text: string) {
    formats.default.default(this.#ajv);
    this.document = JSON.parse(text);
    this.#ajv.addSchema({ components: this.document.components }, 'description');
  }

  /** A part by its path, every reference on the way followed. */
  at(...path: readonly (string | number)[]): Part {
    let part = this.document;
    for (const step of path) part = this.follow(part[step] as Part);
    return part;
  }

  follow(part: Part): Part {
    return typeof part?.$ref === 'string' ? this.at(...part.$ref.slice('#/'.length).split('/')) : part;
  }

  /** What is wrong with a value by a schema of the document; empty: nothing. */
  problems(schema: Part, value: unknown): string[] {
    const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"description#/'));
    const validate = this.#ajv.compile(absolute);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message }: ErrorObject) => `${instancePath} ${message}`,
    );
  }
}

/** Every part of a document, itself included. */
export function* partsOf(part: unknown): Generator<Part> {
  if (typeof part !== 'object' || part === null) return;
  yield part as Part;
  for (const inner of Object.values(part)) yield* partsOf(inner);
}
