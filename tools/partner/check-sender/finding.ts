/**
 * - `wrong`: the service rejects it, or it cannot be intended
 * - `risky`: it works, and there is a reason to change it
 * - `fine`: a note; nothing to do
 */
export type Grade = 'wrong' | 'risky' | 'fine';

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

/** A mistake of the sender: a finding without its grade. */
export type Mistake = Omit<Finding, 'grade'>;

export const wrong = (mistake: Mistake): Finding => ({ grade: 'wrong', ...mistake });
export const risky = (mistake: Mistake): Finding => ({ grade: 'risky', ...mistake });

/** A row of a table of findings, with the condition for it. */
export interface Rule<Subject> {
  /** @default wrong */
  readonly grade?: Grade | ((subject: Subject) => Grade);
  readonly kind: string;
  readonly applies: (subject: Subject) => boolean;
  readonly what: string | ((subject: Subject) => string);
  readonly remedy?: string;
}

/** One finding for each rule that applies. */
export function findingsOf<Subject>(rules: readonly Rule<Subject>[], subject: Subject): Finding[] {
  return rules.filter(({ applies }) => applies(subject)).map((rule) => findingOf(rule, subject));
}

export function firstFinding<Subject>(rules: readonly Rule<Subject>[], subject: Subject): Finding[] {
  const rule = rules.find(({ applies }) => applies(subject));
  return rule === undefined ? [] : [findingOf(rule, subject)];
}

const findingOf = <Subject>({ grade = 'wrong', kind, what, remedy }: Rule<Subject>, subject: Subject) => ({
  grade: typeof grade === 'string' ? grade : grade(subject),
  kind,
  what: typeof what === 'string' ? what : what(subject),
  ...(remedy !== undefined && { remedy }),
});
