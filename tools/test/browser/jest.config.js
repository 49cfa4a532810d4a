import { project, synthesis, testTimeout } from '../../../jest.config.js';

/** The console in a real browser: Chromium or Chrome. */
/** @type {import('jest').Config} */
export default {
  ...project,
  testTimeout,
  ...synthesis,
  rootDir: '../../..',
  roots: ['<rootDir>/tools/test/browser'],
  // Pages that share the processor make each other slow.
  maxWorkers: 1,
  workerGracefulExitTimeout: 10_000,
};
