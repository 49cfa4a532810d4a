import { readFileSync } from 'node:fs';

/** A type of AWS' service models, with the limits of its values. */
export interface Shape {
  readonly type: string;
  /** Of a structure: the types of its members, and those that a request must have. */
  readonly members?: Readonly<Record<string, string>>;
  readonly required?: readonly string[];
  /** Type of the items of a list. */
  readonly member?: string;
  /** Types of the keys and values of a map. */
  readonly key?: string;
  readonly value?: string;
  /** Of a text: its values, and its pattern. */
  readonly enum?: readonly string[];
  readonly pattern?: string;
  /** Of a number: its value. Of others: characters, bytes or entries. */
  readonly min?: number;
  readonly max?: number;
  /** AWS leaves such a value out of its messages. */
  readonly sensitive?: boolean;
}

interface ServiceModel {
  /** Name of the type of each operation's input. Absent if the operation has none. */
  readonly operations: Readonly<Record<string, string | undefined>>;
  /** The types that limit something, by name. Others stand for themselves, such as `string`. */
  readonly shapes: Readonly<Record<string, Shape>>;
}

export const MODELS_FILE = new URL('models.json', import.meta.url);

/** Inputs of operations, from AWS' service models in botocore. `extract.ts` writes the file. */
export const models: Readonly<Record<string, ServiceModel>> = JSON.parse(readFileSync(MODELS_FILE, 'utf8'));
