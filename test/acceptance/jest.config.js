import project from '../../jest.config.js';

/** The suite against the deployed stack that `npx hookctl acceptance` names. Nothing is synthesised for it. */
const { globalSetup: _, globalTeardown: __, ...rest } = project;

/** @type {import('jest').Config} */
export default {
  ...rest,
  rootDir: '../..',
  roots: ['<rootDir>/test/acceptance'],
  testPathIgnorePatterns: ['/node_modules/'],
  // A test waits for several effects, and each may take as long as `--wait` allows.
  testTimeout: (4 * Number(process.env.ACCEPTANCE_WAIT) + 60) * 1000,
};
