import { readFileSync } from 'node:fs';

/** A vector of `events/signing-vectors.json`. The file's `fields` explain the properties. */
export interface SigningVector {
  readonly name: string;
  readonly comment: string;
  readonly secret: string;
  readonly bodyBase64: string;
  readonly utf8?: false;
  readonly accepted: Readonly<Record<string, string>> & { readonly hex: string };
  readonly refused: Readonly<Record<string, string>>;
}

export interface SigningVectors {
  readonly spellings: Readonly<Record<string, string>>;
  readonly mistakes: Readonly<Record<string, string>>;
  readonly vectors: readonly SigningVector[];
}

export const signingVectors: SigningVectors = JSON.parse(readFileSync('events/signing-vectors.json', 'utf8'));

export const bodyOf = ({ bodyBase64 }: SigningVector): Buffer => Buffer.from(bodyBase64, 'base64');
