import project from '../../jest.config.js';

/** The console in a real browser: `npm run test:console`. */
/** @type {import('jest').Config} */
export default {
  ...project,
  rootDir: '../..',
  roots: ['<rootDir>/test/console'],
  testPathIgnorePatterns: ['/node_modules/'],
  // A page that shares the processor with another one is slow for both.
  maxWorkers: 1,
};
