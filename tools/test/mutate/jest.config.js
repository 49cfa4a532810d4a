import base from '../../../jest.config.js';

/**
 * Jest as `npx hookctl mutate` runs it for each mutant: until the first file that fails, with one synthesised stack.
 * @type {import('jest').Config}
 */
export default {
  ...base,
  rootDir: '../..',
  // It looks for places in the source, which mutants move.
  testPathIgnorePatterns: [...base.testPathIgnorePatterns, '/test/lambda/error-stacks.test.ts$'],
  globalSetup: '<rootDir>/tools/test/mutate/synthesise-once.ts',
  globalTeardown: undefined,
  testSequencer: '<rootDir>/tools/test/mutate/likely-first.ts',
  bail: 1,
  watchman: false,
};
