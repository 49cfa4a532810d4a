/**
 * - `wrong`: the service refuses it, or it cannot have been meant
 * - `risky`: it works, and there is a reason to change it
 * - `fine`: worth a word, and nothing to do
 */
export type Grade = 'wrong' | 'risky' | 'fine';

/** One thing that there is to say about a request. Shows nothing that was sent: neither values nor names of the sender's. */
export interface Finding {
  readonly grade: Grade;
  /** Names the kind of mistake, in counts and for programs: `json-reserialised`. */
  readonly kind: string;
  /** What is the case, as a sentence. */
  readonly what: string;
  /** What to do, as a sentence. @default nothing */
  readonly remedy?: string;
  /** Whether it is hidden behind what is wrong with the signature: it would be next. @default false */
  readonly isNext?: boolean;
}

/** A mistake that makes a signature wrong. */
export type Mistake = Omit<Finding, 'grade'> & { readonly remedy: string };

export const wrong = (mistake: Omit<Finding, 'grade'>): Finding => ({ grade: 'wrong', ...mistake });
export const risky = (mistake: Omit<Finding, 'grade'>): Finding => ({ grade: 'risky', ...mistake });
export const fine = (mistake: Omit<Finding, 'grade'>): Finding => ({ grade: 'fine', ...mistake });
