import type { Block } from './block.ts';
import { facts, lines } from './facts.ts';
import { table } from './table.ts';

/** A part of an output as lines of a terminal. @param width characters of a line; Infinity if it is not a terminal */
export function blockLines(block: Block, width: number): string[] {
  switch (block.kind) {
    case 'facts':
      return facts(block.facts, width);
    case 'table':
      return table(block.columns, block.rows, width);
    default:
      return lines(block.text, width);
  }
}
