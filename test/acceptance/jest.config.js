import project from '../../jest.config.js';

/** The suite against a deployed stack; `npm run acceptance` says which. Nothing is synthesised for it. */
const { globalSetup: _, globalTeardown: __, ...rest } = project;

/** @type {import('jest').Config} */
export default {
  ...rest,
  rootDir: '../..',
  roots: ['<rootDir>/test/acceptance'],
  testPathIgnorePatterns: ['/node_modules/'],
  // A test sees several effects, and each may take what `--wait` says.
  testTimeout: (4 * Number(process.env.ACCEPTANCE_WAIT) + 60) * 1000,
};
