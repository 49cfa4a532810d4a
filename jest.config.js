import { availableParallelism } from 'node:os';

/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' } }],
  },
  // Runs against a deployed stack; test/local-stack/acceptance.test.ts gives it one.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/acceptance/'],
  transformIgnorePatterns: ['/node_modules/'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  // Many tests wait: for queues, for retries, for a process to start.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
  testTimeout: 60_000,
};
