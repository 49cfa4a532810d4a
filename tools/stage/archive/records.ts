export { readObject } from './reader.ts';
