import { project, testTimeout } from '../../../jest.config.js';

/**
 * Jest as `npx hookctl mutate` runs it for each mutant: until the first file that fails, with one synthesised stack.
 * @type {import('jest').Config}
 */
export default {
  ...project,
  testTimeout,
  rootDir: '../../..',
  roots: ['<rootDir>/test', '<rootDir>/tools/test'],
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/test/acceptance/',
    '<rootDir>/tools/test/browser/',
    // It looks for places in the source, which mutants move.
    '/test/lambda/error-stacks.test.ts$',
  ],
  globalSetup: '<rootDir>/tools/test/mutate/synthesise-once.ts',
  testSequencer: '<rootDir>/tools/test/mutate/likely-first.ts',
  bail: 1,
  watchman: false,
};
