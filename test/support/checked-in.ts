import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from '@jest/globals';

/**
 * Holds a text against a file that is checked in, so that a change of it is seen in review.
 * `UPDATE=1 npm test -- <the test file>` writes the file anew.
 */
export function expectCheckedIn(file: string, text: string): void {
  if (process.env.UPDATE !== undefined) writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
}
