/**
 * Where Node.js keeps modules compiled and without their types, each by its content, from the project's root. It saves a
 * start and a synthesis a fifth of their processor time, and goes with `npm ci`.
 */
export const COMPILED_MODULES = 'node_modules/.cache/compiled';
