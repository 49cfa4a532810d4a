import { MAX_PROBLEMS } from '../../../lambda/events/fields.ts';
import { invalidSignature, serverError, unusableEvent } from '../../../lambda/receiver/answers.ts';
import type { JsonSchema } from './field-schemas.ts';
import { REQUEST_ID, requestId } from './ids.ts';

const fieldProblem = {
  type: 'object',
  properties: {
    field: { type: 'string', description: 'Path of the field, such as `data.shop_id`; `body` is the whole.' },
    detail: { type: 'string', description: 'What is wrong with it. It never shows the value.' },
  },
  required: ['field', 'detail'],
};

/** Every offending field, as answers and the quarantine queue name them (decision D4). */
export const fieldProblems: JsonSchema = {
  type: 'array',
  minItems: 1,
  maxItems: MAX_PROBLEMS,
  items: fieldProblem,
  description: `The fields that are wrong, of many the first ${MAX_PROBLEMS}.`,
};

export const exampleProblems = [
  { field: 'data.shop_id', detail: 'is missing: expected a non-empty string' },
] as const;

/** The receiver's own errors by the names of their schemas, as its code makes them. */
const details = {
  UnusableEvent: unusableEvent(exampleProblems),
  InvalidSignature: invalidSignature,
  ServerError: serverError,
};

export type ProblemName = keyof typeof details;

const meanings: Readonly<Record<ProblemName, string>> = {
  UnusableEvent: 'The body is signed, but not a usable event. It was kept for a person to look at.',
  InvalidSignature:
    'The signature is missing, malformed or wrong: which of these is not said. Nothing was kept.',
  ServerError: 'The event could not be made safe. Nothing was kept.',
};

export const problemNames = Object.keys(details) as ProblemName[];

/** The body of such an answer, as an example. */
export const problemExample = (name: ProblemName) => ({ ...details[name], requestId: REQUEST_ID });

/** RFC 9457. */
export function problemSchema(name: ProblemName): JsonSchema {
  const { type, title, status, errors } = details[name];
  return {
    title,
    description: meanings[name],
    type: 'object',
    properties: {
      type: { type: 'string', const: type, description: 'Names the kind of problem. It leads nowhere.' },
      title: { type: 'string', const: title },
      status: { type: 'integer', const: status },
      detail: { type: 'string', description: 'What is wrong, for a person.' },
      ...(errors && { errors: fieldProblems }),
      requestId,
    },
    required: ['type', 'title', 'status', 'detail', ...(errors ? ['errors'] : []), 'requestId'],
  };
}
