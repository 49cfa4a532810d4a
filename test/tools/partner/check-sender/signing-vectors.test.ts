import { describe, expect, test } from '@jest/globals';
import { bodyOf, signingVectors } from '../../../support/signing-vectors.ts';
import { diagnosisOf } from './senders.ts';

/** What the checker may call a mistake of the vectors: of some bodies and secrets, several are the same. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  wrongSecret: ['signature-other'],
  lineFeedInKey: ['key-white-space'],
  trimmedKey: ['key-trimmed'],
  hexKey: ['key-hex-decoded'],
  base64Key: ['key-base64-decoded'],
  latin1Key: ['key-latin-1'],
  utf16Key: ['key-utf-16'],
  normalisedKey: ['key-normalised'],
  cutKey: ['key-cut'],
  lineFeedAdded: ['newline-signed'],
  trimmedBody: ['trimmed', 'newline-not-signed', 'line-breaks'],
  reserialisedBody: ['json-reserialised', 'newline-not-signed'],
  lineEndsChanged: ['line-breaks'],
  byteOrderMarkDropped: ['byte-order-mark'],
  surrogatesEncoded: ['surrogates'],
  asciiEscapes: ['json-reserialised'],
  latin1Body: ['latin-1'],
  normalisedBody: ['normalised'],
  decodedBody: ['body-not-utf-8'],
  cutAtNul: ['cut-at-nul'],
  base64Body: ['signed-a-digest'],
  hexOfBase64: ['signature-encoded-twice'],
  base64OfHex: ['signature-encoded-twice'],
  truncated: ['signature-cut'],
  upperCasePrefix: ['signature-prefix'],
  otherPrefix: ['signature-v1'],
  prefixTwice: ['signature-prefix'],
  prefixAlone: ['signature-malformed'],
  spaceAfterPrefix: ['signature-white-space'],
  quoted: ['signature-quoted'],
  twoValues: ['signature-several'],
  empty: ['signature-empty'],
  sha1: ['other-hash'],
  sha512: ['other-hash'],
  sha512Cut: ['other-hash'],
  sha512Prefix: ['other-hash'],
  withoutKey: ['plain-hash'],
  hashOfKeyAndBody: ['plain-hash'],
  swapped: ['key-and-body-swapped'],
};

describe.each(signingVectors.vectors)('of the test vector $name', (vector) => {
  const { secret, accepted, refused, utf8 } = vector;
  const body = bodyOf(vector);

  test.each(Object.entries(accepted))('%s is found right', async (_, signature) => {
    const { status, findings } = await diagnosisOf({ body, secret, signature });
    const kinds = findings.map(({ kind }) => kind);
    // An HTTP API hands text over as text: what is not UTF-8 is 401 there.
    if (utf8 === false) expect({ status, kinds }).toEqual({ status: 401, kinds: ['body-not-utf-8'] });
    else expect([200, 400]).toContain(status);
  });

  test.each(Object.entries(refused))('%s is named', async (mistake, signature) => {
    const { findings, status } = await diagnosisOf({ body, secret, signature });
    // Such a gateway makes the same of the body as this sender did before it signed.
    expect(status).toBe(mistake === 'decodedBody' ? 400 : 401);
    expect(NAMES[mistake]).toContain(findings[0]?.kind);
  });
});
