export interface Column {
  readonly heading: string;
  /** @default 'left' */
  readonly align?: 'left' | 'right';
}

/** A part of what a command prints. A terminal shows it as lines, the console as text and tables. */
export type Block =
  | { readonly kind: 'text' | 'heading'; readonly text: string }
  | { readonly kind: 'facts'; readonly facts: readonly (readonly [name: string, value: string])[] }
  | {
      readonly kind: 'table';
      readonly columns: readonly Column[];
      readonly rows: readonly (readonly string[])[];
    };

/** How far a long piece of work has come. */
export interface Step {
  /** `Posting`, `Waiting for quiet`. */
  readonly doing: string;
  readonly done: number;
  readonly total: number;
  /** What is counted: `rounds`. @default without a unit */
  readonly unit?: string;
  /** What else is worth knowing: `19 kills`. @default nothing */
  readonly note?: string;
}
