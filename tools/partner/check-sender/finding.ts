/** One finding about a request. Contains none of the sent data: no values, and no names that the sender chose. */
export interface Finding {
  readonly grade: Grade;
  /** Identifies the kind of mistake, in counts and for programs: `json-reserialised`. */
  readonly kind: string;
  /** The problem, as a sentence. */
  readonly what: string;
  /** Advice, as a sentence. @default none */
  readonly remedy?: string;
  /** Whether a wrong signature hides it, so that it would be the next mistake. @default false */
  readonly isNext?: boolean;
}

/**
 * - `wrong`: the service rejects it, or it cannot be intended
 * - `risky`: it works, and there is a reason to change it
 * - `fine`: a note; nothing to do
 */
export type Grade = 'wrong' | 'risky' | 'fine';

const graded =
  (grade: Grade) =>
  (kind: string, what: string, remedy?: string): Finding => ({
    grade,
    kind,
    what,
    ...(remedy !== undefined && { remedy }),
  });

export const wrong = graded('wrong');
export const risky = graded('risky');
export const fine = graded('fine');
