export { storedPayload } from './object.ts';
