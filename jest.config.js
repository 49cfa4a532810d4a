import './check-node.js';
import { availableParallelism } from 'node:os';

/** What all projects share, also those of other files: the acceptance suite and the browser. */
export const project = {
  injectGlobals: false,
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: {
    '\\.tsx?$': [
      'babel-jest',
      {
        babelrc: false,
        configFile: false,
        presets: [['@babel/preset-typescript', { onlyRemoveTypeImports: true }]],
        plugins: [['@babel/plugin-transform-react-jsx', { runtime: 'automatic', importSource: 'preact' }]],
      },
    ],
  },
};

/** Milliseconds. Several times longer than a test waits for one thing: `test/support/eventually.ts`. */
export const testTimeout = 300_000;

/** A worker takes up to half a gigabyte of memory. */
const MAX_WORKERS = 16;

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
      displayName: 'local-aws',
      roots: ['<rootDir>/local-aws/test'],
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
  // For `--coverage`, so that files without a test count, too.
  coverageProvider: 'v8',
  collectCoverageFrom: ['{lambda,lib}/**/*.ts', '{local-aws,tools}/**/*.ts', '!**/test/**'],
  // Many tests wait: for queues, for retries, for a process to start.
  maxWorkers: Math.min(availableParallelism() * 3, MAX_WORKERS),
  // In milliseconds. On a busy machine a worker takes longer to end than Jest's default of 500 allows.
  workerGracefulExitTimeout: 10_000,
};
