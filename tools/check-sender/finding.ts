/**
 * `wrong`: the service rejects the request, or the sender cannot have intended it. `risky`: the request works, but
 * should be changed. `fine`: nothing to do.
 */
type Grade = 'wrong' | 'risky' | 'fine';

/** One finding about a request. Contains no sent data: neither values nor names that the sender chose. */
export interface Finding {
  readonly grade: Grade;
  /** Id of the kind of mistake, for counts: `json-reserialised`. */
  readonly kind: string;
  readonly what: string;
  /** Absent for a note. */
  readonly remedy?: string;
  /** Whether the mistake is hidden by a wrong signature, so that it is the next one to fix. */
  readonly isNext?: boolean;
}

type MakeFinding = (kind: string, what: string, remedy: string) => Finding;

export const wrong: MakeFinding = (kind, what, remedy) => ({ grade: 'wrong', kind, what, remedy });
export const risky: MakeFinding = (kind, what, remedy) => ({ grade: 'risky', kind, what, remedy });
export const note = (kind: string, what: string): Finding => ({ grade: 'fine', kind, what });
