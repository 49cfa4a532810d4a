import type { Column } from './table.ts';

/** A part of what a command prints. A terminal shows it as lines, the console as text and tables. */
export type Block =
  | { readonly kind: 'text' | 'heading'; readonly text: string }
  | { readonly kind: 'facts'; readonly facts: readonly (readonly [name: string, value: string])[] }
  | {
      readonly kind: 'table';
      readonly columns: readonly Column[];
      readonly rows: readonly (readonly string[])[];
    };
