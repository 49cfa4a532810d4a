export { DamagedObjectError } from './object.ts';
