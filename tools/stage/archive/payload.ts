export { storedPayload } from './reader.ts';
