import * as v from 'valibot';
import { MAX_PROBLEMS } from '../limits.ts';

/**
 * A schema's error text: distinguishes a missing value from one of the wrong type, and says what was expected. It never
 * shows the value, which may be personal data.
 */
export const expecting = (shape: string) => (issue: { readonly input: unknown }) =>
  issue.input === undefined ? `is missing: expected ${shape}` : `must be ${shape}`;

/** An object with these fields, and others. The library would describe a missing field in its own words. */
export const object = <const Entries extends v.ObjectEntries>(entries: Entries) =>
  v.object(entries, ({ path }) => {
    const missing = entries[String(path?.[0].key)];
    return (missing && v.safeParse(missing, undefined).issues?.[0].message) ?? 'must be an object';
  });

const nonEmpty = v.minLength<string, 1, string>(1, 'must not be empty');

/** Lone surrogates have no UTF-8 form: two such identifiers would be stored as one. */
const wellFormed = v.check((value: string) => value.isWellFormed(), 'must be well-formed Unicode');

const stringOrInteger = 'a non-empty string or an integer below 2^53';

/** A required identifier that the contract shows as a string (`docs/contract.md`, Data). */
export const identifier = v.pipe(v.string(expecting('a non-empty string')), nonEmpty, wellFormed);

/**
 * A required identifier whose type the contract does not show (decision D10): a string, or an integer that a JSON
 * number represents exactly. Larger integers are rejected, because two neighbours would become one.
 */
export const identifierOfEitherType = v.pipe(
  v.union([v.string(), v.number()], expecting(stringOrInteger)),
  v.check((value) => typeof value === 'string' || Number.isSafeInteger(value), `must be ${stringOrInteger}`),
  v.transform(String),
  nonEmpty,
  wellFormed,
);

/** A field that the contract shows as a string, used if present. */
export const text = v.optional(
  v.pipe(
    v.string(expecting('a string')),
    v.transform((value) => value.toWellFormed()),
  ),
);

/** A field that the contract shows as an array of strings, used if present. */
export const textList = v.optional(
  v.pipe(
    v.custom<unknown[]>(Array.isArray, expecting('an array of strings')),
    v.rawTransform(({ dataset: { value: values }, addIssue }): string[] => {
      const texts: string[] = [];
      let problems = 0;
      for (const [key, value] of values.entries()) {
        if (typeof value === 'string') texts.push(value.toWellFormed());
        else {
          addIssue({
            message: 'must be a string',
            path: [{ type: 'array', origin: 'value', input: values, key, value }],
          });
          problems += 1;
        }
        if (problems === MAX_PROBLEMS) break;
      }
      return texts;
    }),
  ),
);

/**
 * A field that the contract does not show (decision D10): a string or a number, stored as a string. Its type is our
 * assumption, so a field of another type is ignored, and the event stays usable. So is a number from 2^53 on, because
 * two ids would become one.
 */
export const assumedText = v.fallback(
  v.optional(
    v.pipe(
      v.union([v.pipe(v.string(), nonEmpty), v.number()]),
      v.check((value) => typeof value === 'string' || Math.abs(value) < 2 ** 53),
      v.transform((value) => String(value).toWellFormed()),
    ),
  ),
  undefined,
);
