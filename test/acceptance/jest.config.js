import { project } from '../../jest.config.js';

/** The suite against the deployed stack that `npx hookctl acceptance` names. Nothing is synthesised for it. */
/** @type {import('jest').Config} */
export default {
  ...project,
  rootDir: '../..',
  roots: ['<rootDir>/test/acceptance'],
  // A test waits for several effects, and each may take as long as `--wait` allows.
  testTimeout: (4 * Number(process.env.ACCEPTANCE_WAIT) + 60) * 1000,
};
