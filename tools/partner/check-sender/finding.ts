/**
 * - `wrong`: the service refuses it, or it cannot be intended
 * - `risky`: it works, and there is a reason to change it
 * - `fine`: a note; nothing to do
 */
export type Grade = 'wrong' | 'risky' | 'fine';

/** One remark on a request. It shows nothing that was sent: neither values nor names of the sender's. */
export interface Finding {
  readonly grade: Grade;
  /** Names the kind of mistake, in counts and for programs: `json-reserialised`. */
  readonly kind: string;
  /** What happened, as a sentence. */
  readonly what: string;
  /** What to do, as a sentence. @default nothing */
  readonly remedy?: string;
  /** Whether a wrong signature hides it: it would be the next mistake. @default false */
  readonly isNext?: boolean;
}

/** A mistake that the sender made: every finding without its grade. */
export type Mistake = Omit<Finding, 'grade'>;

export const wrong = (mistake: Mistake): Finding => ({ grade: 'wrong', ...mistake });
export const risky = (mistake: Mistake): Finding => ({ grade: 'risky', ...mistake });

/** A row of a table of findings, with how it is recognised. */
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

/** The finding of the first rule that applies. */
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
