import './check-node.js';
import { availableParallelism } from 'node:os';

const typescript = {
  jsc: {
    parser: { syntax: 'typescript' },
    target: 'es2024',
    experimental: { keepImportAttributes: true },
  },
};

/** What all projects share, also those of other files: the acceptance suite, the browser, mutants. */
export const project = {
  injectGlobals: false,
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', typescript],
    '^.+\\.tsx$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', tsx: true },
          transform: { react: { runtime: 'automatic', importSource: 'preact' } },
          target: 'es2024',
        },
      },
    ],
  },
  transformIgnorePatterns: ['/node_modules/'],
  // Zod loads its messages in 60 languages. Jest would do so for each test file. Only the English ones are used.
  moduleNameMapper: { '^\\.\\./locales/index\\.js$': 'zod/v4/locales/en.js' },
};

/** Milliseconds. Several times longer than a test waits for one thing: `test/support/eventually.ts`. */
export const testTimeout = 300_000;

/** A stack is synthesised once for all tests. */
export const synthesis = {
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};

/** @type {import('jest').Config} */
export default {
  projects: [
    {
      ...project,
      ...synthesis,
      displayName: 'product',
      roots: ['<rootDir>/test'],
      // It needs a deployed stack, which tools/test/commands/acceptance.test.ts provides.
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/acceptance/'],
    },
    {
      ...project,
      ...synthesis,
      displayName: 'tools',
      roots: ['<rootDir>/tools/test'],
      // It needs a browser.
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/tools/test/browser/'],
    },
  ],
  testTimeout,
  testSequencer: '<rootDir>/test/support/longest-first.ts',
  // Many tests wait: for queues, for retries, for a process to start.
  maxWorkers: availableParallelism() * 2,
  // In milliseconds. On a busy machine a worker takes longer to end than Jest's default of 500 allows.
  workerGracefulExitTimeout: 10_000,
};
