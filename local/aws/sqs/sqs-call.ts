import type { JsonObject } from '../json.ts';

/** Calls one operation of SQS with the fields of its JSON protocol. */
export type SqsCall = (operation: string, parameters: JsonObject) => Promise<JsonObject>;
