/** One finding about a request. Contains none of the sent data: no values, and no names that the sender chose. */
export interface Finding {
  readonly grade: Grade;
  /** Identifies the kind of mistake, in counts and for programs: `json-reserialised`. */
  readonly kind: string;
  /** The problem, as a sentence. */
  readonly what: string;
  /** Advice, as a sentence. */
  readonly remedy?: string | undefined;
  /** Whether a wrong signature hides it, so that it would be the next mistake. */
  readonly isNext?: boolean;
}

/** The service rejects it or it cannot be intended; it works and there is a reason to change it; nothing to do. */
export type Grade = 'wrong' | 'risky' | 'fine';

const graded =
  (grade: Grade) =>
  (kind: string, what: string, remedy?: string): Finding => {
    return { grade, kind, what, remedy };
  };

export const wrong = graded('wrong');
export const risky = graded('risky');
export const fine = graded('fine');
