import * as z from 'zod/mini';
import { MAX_PROBLEMS } from '../limits.ts';

/**
 * A schema's error text: distinguishes a missing value from one of the wrong type, and says what was expected. It never
 * shows the value, which may be personal data.
 */
export const expecting = (shape: string) => ({
  error: (issue: { input?: unknown }) =>
    issue.input === undefined ? `is missing: expected ${shape}` : `must be ${shape}`,
});

const nonEmpty = z.minLength(1, 'must not be empty');

/** Lone surrogates have no UTF-8 form: two such identifiers would be stored as one. */
const wellFormed = z.refine<string>((value) => value.isWellFormed(), 'must be well-formed Unicode');

const stringOrInteger = 'a non-empty string or an integer below 2^53';

/** A required identifier that the contract shows as a string (`docs/contract.md`, Data). */
export const identifier = z.string(expecting('a non-empty string')).check(nonEmpty, wellFormed);

/**
 * A required identifier whose type the contract does not show (decision D10): a string, or an integer that a JSON
 * number represents exactly. Larger integers are rejected, because two neighbours would become one.
 */
export const identifierOfEitherType = z.pipe(
  z
    .union([z.string(), z.number()], expecting(stringOrInteger))
    .check(
      z.refine(
        (value) => typeof value === 'string' || Number.isSafeInteger(value),
        `must be ${stringOrInteger}`,
      ),
    ),
  z.pipe(z.transform(String), z.string().check(nonEmpty, wellFormed)),
);

/** A field that the contract shows as a string, used if present. */
export const text = z.optional(
  z.pipe(
    z.string(expecting('a string')),
    z.transform((value: string) => value.toWellFormed()),
  ),
);

/** A field that the contract shows as an array of strings, used if present. */
export const textList = z.optional(
  z.pipe(
    z.custom<unknown[]>(Array.isArray, expecting('an array of strings')),
    z.transform((values: unknown[], context): string[] => {
      const texts: string[] = [];
      for (const [index, value] of values.entries()) {
        if (typeof value === 'string') texts.push(value.toWellFormed());
        else
          context.issues.push({ code: 'custom', message: 'must be a string', path: [index], input: value });
        if (context.issues.length === MAX_PROBLEMS) break;
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
export const assumedText = z.catch(
  z.optional(
    z.pipe(
      z.union([z.string().check(nonEmpty), z.number().check(z.refine((value) => Math.abs(value) < 2 ** 53))]),
      z.transform((value: string | number) => String(value).toWellFormed()),
    ),
  ),
  undefined,
);
