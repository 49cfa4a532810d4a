import project from '../../../jest.config.js';

/** The console in a real browser: `npx hookctl test-console`. */
/** @type {import('jest').Config} */
export default {
  ...project,
  rootDir: '../..',
  roots: ['<rootDir>/tools/test/browser'],
  testPathIgnorePatterns: ['/node_modules/'],
  // Pages that share the processor make each other slow.
  maxWorkers: 1,
};
