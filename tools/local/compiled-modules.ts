/**
 * Folder of Node.js' compile cache, relative to the project's root. It saves a fifth of the processor time of
 * a start and of a synthesis. Each entry is used while the module's content is unchanged. `npm ci` deletes
 * the folder.
 */
export const COMPILED_MODULES = 'node_modules/.cache/compiled';
