export interface Column {
  readonly heading: string;
  /** Alignment of the column. @default 'left' */
  readonly align?: 'left' | 'right';
}

/** A part of a command's output. */
export type Block =
  | { readonly kind: 'text' | 'heading'; readonly text: string }
  /** A command line to run next. `text` says what it does: `To run this plan`. */
  | { readonly kind: 'command'; readonly text: string; readonly command: string }
  | { readonly kind: 'fields'; readonly fields: readonly (readonly [name: string, value: string])[] }
  | {
      readonly kind: 'table';
      readonly columns: readonly Column[];
      readonly rows: readonly (readonly string[])[];
    };

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
