export interface ProgressStep {
  /** Verb phrase for the work, such as `Posting` or `Waiting for quiet`. */
  readonly doing: string;
  readonly done: number;
  readonly total: number;
  /** Unit of the counts, such as `rounds`. @default none */
  readonly unit?: string;
  /** More information in parentheses, such as `19 kills`. @default none */
  readonly note?: string;
}
