import './check-node.js';
import { availableParallelism } from 'node:os';

/** @type {import('jest').Config} */
export default {
  injectGlobals: false,
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript' },
          target: 'es2024',
          experimental: { keepImportAttributes: true },
        },
      },
    ],
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
  // The first suite needs a deployed stack, which tools/test/commands/acceptance.test.ts provides. The second needs
  // a browser.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/acceptance/', '<rootDir>/tools/test/browser/'],
  transformIgnorePatterns: ['/node_modules/'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  testSequencer: '<rootDir>/test/support/longest-first.ts',
  // Many tests wait: for queues, for retries, for a process to start.
  maxWorkers: availableParallelism() * 2,
  // Several times longer than a test waits for one thing: `test/support/eventually.ts`.
  testTimeout: 300_000,
  // In milliseconds. On a busy machine a worker takes longer to end than Jest's default of 500 allows.
  workerGracefulExitTimeout: 10_000,
};
