/**
 * Node.js' compile cache, from the project's root: compiled modules without types, each by file name, used while the
 * content is the same. It saves a start and a synthesis a fifth of their processor time. `npm ci` deletes it.
 */
export const COMPILED_MODULES = 'node_modules/.cache/compiled';
