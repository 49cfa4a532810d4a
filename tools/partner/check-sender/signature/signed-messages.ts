import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { valuesOf } from '../../../../local/gateway/http-message.ts';
import type { Mistake } from '../finding.ts';
import { type JsonNode, jsonTree, memberOf } from '../payload/json-tree.ts';
import { SEND_JSON_AS_IT_IS } from '../payload/not-json.ts';
import { type SentRequest, targetOf } from '../sent-request.ts';
import { jsonForms, writeJson } from './json-forms.ts';
import { writePython } from './python-form.ts';

/** What somebody may have signed instead of the body. */
export interface SignedMessage {
  readonly mistake: Mistake;
  readonly bytes: Uint8Array;
}

/** Bytes of a body above which only the cheap guesses are made, so that a verdict takes no minute. */
const MOST_BYTES_FOR_JSON = 1024 * 1024;

/** What a compressed body may grow to: the quota of API Gateway on a body. */
const MOST_INFLATED_BYTES = 10 * 1024 * 1024;

const SIGN_WHAT_IS_SENT =
  'Make the text of the body once; sign exactly these bytes, and send exactly these bytes.';

/** What remains of a text whose bytes are handled by C: it ends at the first NUL. */
const cutAtNul = (body: Buffer) => body.subarray(0, body.indexOf(0) === -1 ? body.length : body.indexOf(0));

/** Each half of a surrogate pair as three bytes (CESU-8): old Java and MySQL write it. */
function cesu8(text: string): Buffer {
  return Buffer.concat(
    text.split(/([\uD800-\uDFFF])/).map((part) => {
      const unit = part.charCodeAt(0);
      if (part.length !== 1 || unit < 0xd800 || unit > 0xdfff) return Buffer.from(part);
      return Buffer.from([0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)]);
    }),
  );
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Java and Python write a byte order mark before it, .NET none. Only an even number of bytes can be decoded. */
export const UTF_16 = [
  {
    name: 'UTF-16',
    encode: (text: string) => Buffer.from(text, 'utf16le'),
    decode: (bytes: Buffer) => bytes.toString('utf16le'),
  },
  {
    name: 'UTF-16 (big endian)',
    encode: (text: string) => Buffer.from(text, 'utf16le').swap16(),
    decode: (bytes: Buffer) => Buffer.from(bytes).swap16().toString('utf16le'),
  },
];

/** Headers in which senders carry the time that they sign with the body. */
const TIMESTAMP_HEADERS = [
  'x-timestamp',
  'x-webhook-timestamp',
  'x-signature-timestamp',
  'x-request-timestamp',
  'x-slack-request-timestamp',
  'webhook-timestamp',
  'date',
];

/**
 * What may have been signed instead of the body, the likeliest first.
 * @param timestamps that stood in the signature itself
 */
export function* signedMessages(
  request: SentRequest,
  timestamps: readonly string[],
): Generator<SignedMessage, undefined> {
  const { body } = request;
  yield* whiteSpace(body);
  yield* encodings(body);
  yield* compressed(request);
  if (body.length <= MOST_BYTES_FOR_JSON) {
    const text = body.toString().replace(/^\uFEFF/, '');
    const tree = jsonTree(text);
    if (tree !== undefined) yield* reserialised(text, tree);
    yield* formFields(text);
    yield* withTimestamp(request, [...timestamps, ...payloadTimestamp(tree)]);
    yield* withTarget(request);
  }
  yield* hashes(body);
  if (body.length > 0) {
    yield {
      bytes: Buffer.alloc(0),
      mistake: {
        kind: 'signed-nothing',
        what: 'The signature is over an empty text, not over the body.',
        remedy: 'Sign the body after it was made, or before the stream that holds it was read to its end.',
      },
    };
  }
  return undefined;
}

function* whiteSpace(body: Buffer): Generator<SignedMessage> {
  const text = body.toString('latin1');
  const variants: [changed: string, kind: string, what: string][] = [
    [text.replace(/\r?\n$/, ''), 'newline-not-signed', 'the body without the line break that ends it'],
    [`${text}\n`, 'newline-signed', 'the body and a line break after it, which was not sent'],
    [`${text}\r\n`, 'newline-signed', 'the body and a line break (CR LF) after it, which was not sent'],
    [text.trim(), 'trimmed', 'the body without the white space around it'],
    [
      text.replaceAll('\r\n', '\n'),
      'line-breaks',
      'the body with line breaks LF, and it was sent with CR LF',
    ],
    [
      text.replaceAll(/\r?\n/g, '\r\n'),
      'line-breaks',
      'the body with line breaks CR LF, and it was sent with LF',
    ],
    [text.replaceAll(/\r?\n/g, ''), 'line-breaks', 'the body without its line breaks'],
  ];
  for (const [changed, kind, what] of variants) {
    if (changed === text) continue;
    const remedy =
      kind === 'line-breaks'
        ? 'Send the file as bytes, not as text: curl needs --data-binary instead of -d.'
        : SIGN_WHAT_IS_SENT;
    yield {
      bytes: Buffer.from(changed, 'latin1'),
      mistake: { kind, what: `The signature is over ${what}.`, remedy },
    };
  }
}

function* encodings(body: Buffer): Generator<SignedMessage> {
  const hasBom = body.subarray(0, BOM.length).equals(BOM);
  yield {
    bytes: hasBom ? body.subarray(BOM.length) : Buffer.concat([BOM, body]),
    mistake: {
      kind: 'byte-order-mark',
      what: hasBom
        ? 'The body begins with a byte order mark (EF BB BF), and the signature is over what follows it.'
        : 'The signature is over the body with a byte order mark (EF BB BF) before it, which was not sent.',
      remedy: 'Write UTF-8 without a byte order mark, both for signing and for sending.',
    },
  };
  const text = body.toString();
  const remedy = 'Turn the text into bytes once, as UTF-8; sign these bytes, and send these bytes.';
  const yieldText = (bytes: Buffer, kind: string, what: string): SignedMessage => ({
    bytes,
    mistake: { kind, what, remedy },
  });
  yield yieldText(
    Buffer.from(body.toString('latin1')),
    'latin-1',
    'The signature is over the body read as Latin-1 and written as UTF-8 again: each byte beyond ASCII became two.',
  );
  yield yieldText(
    Buffer.from(text, 'latin1'),
    'latin-1',
    'The signature is over the text in Latin-1, and it was sent in UTF-8.',
  );
  yield yieldText(
    Buffer.from(text.replaceAll(/[\u0080-\uFFFF]/g, '?')),
    'ascii',
    'The signature is over the text in ASCII, each other character replaced by a question mark.',
  );
  for (const { name, encode } of UTF_16) {
    for (const written of [text, `\uFEFF${text}`]) {
      const what = `The signature is over the text in ${name}, and it was sent in UTF-8.`;
      yield yieldText(encode(written), 'utf-16', what);
    }
  }
  // The braces of JSON have a zero byte in UTF-16.
  for (const { name, decode } of body.length % 2 === 0 && body.includes(0) ? UTF_16 : []) {
    const sent = decode(body);
    for (const written of new Set([sent, sent.replace(/^\uFEFF/, '')])) {
      const what = `The signature is over the text in UTF-8, and it was sent in ${name}.`;
      yield yieldText(Buffer.from(written), 'body-utf-16', what);
    }
  }
  yield yieldText(
    Buffer.from(text),
    'body-not-utf-8',
    'The body is not UTF-8, and the signature is over what remains of it when it is read as such.',
  );
  if (/[\u{10000}-\u{10FFFF}]/u.test(text)) {
    yield yieldText(
      cesu8(text),
      'surrogates',
      'The signature is over the text in CESU-8: each emoji is six bytes in it, and four in UTF-8.',
    );
  }
  yield yieldText(cutAtNul(body), 'cut-at-nul', 'The signature is over the body up to its first zero byte.');
  for (const form of ['NFC', 'NFD'] as const) {
    yield yieldText(
      Buffer.from(text.normalize(form)),
      'normalised',
      `The signature is over the text in Unicode form ${form}, and it was sent in another.`,
    );
  }
}

const INFLATE: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => gunzipSync(body, { maxOutputLength: MOST_INFLATED_BYTES }),
  deflate: (body) => inflateSync(body, { maxOutputLength: MOST_INFLATED_BYTES }),
  br: (body) => brotliDecompressSync(body, { maxOutputLength: MOST_INFLATED_BYTES }),
};

/** How a body is compressed, by its header or its first bytes. */
export function compressionOf({ headers, body }: Pick<SentRequest, 'headers' | 'body'>): string | undefined {
  const named = valuesOf(headers, 'content-encoding').join(',').trim().toLowerCase();
  if (Object.hasOwn(INFLATE, named)) return named;
  return body[0] === 0x1f && body[1] === 0x8b ? 'gzip' : undefined;
}

/** @returns undefined if it is not compressed, or not as it says, or too large */
export function inflated(request: Pick<SentRequest, 'headers' | 'body'>): Buffer | undefined {
  try {
    return INFLATE[compressionOf(request) ?? '']?.(request.body);
  } catch {
    return undefined;
  }
}

function* compressed(request: SentRequest): Generator<SignedMessage> {
  const bytes = inflated(request);
  if (bytes === undefined) return;
  yield {
    bytes,
    mistake: {
      kind: 'compressed',
      what: `The body was compressed (${compressionOf(request)}) after it was signed.`,
      remedy: 'Send it uncompressed: the service verifies what arrives, and decompresses nothing.',
    },
  };
}

function* reserialised(text: string, tree: JsonNode): Generator<SignedMessage> {
  if (tree.kind === 'string') {
    yield {
      bytes: Buffer.from(tree.value),
      mistake: {
        kind: 'json-twice',
        what: 'The signature is over the JSON, and the body is that JSON written once more, as a JSON text in quotation marks.',
        remedy: SEND_JSON_AS_IT_IS,
      },
    };
  }
  const mistake = (writer: string): Mistake => ({
    kind: 'json-reserialised',
    what: `The signature is over re-serialised JSON, as ${writer} writes it, not over the bytes that were sent.`,
    remedy: SIGN_WHAT_IS_SENT,
  });
  // Of most bodies many libraries make the same.
  const seen = new Set([text]);
  const forms = [...writtenForms(text, tree)];
  for (const end of ['', '\n']) {
    for (const { written, writer } of forms) {
      const whole = `${written}${end}`;
      if (seen.has(whole)) continue;
      seen.add(whole);
      yield { bytes: Buffer.from(whole), mistake: mistake(writer) };
    }
  }
  yield {
    bytes: Buffer.from(writePython(tree)),
    mistake: {
      kind: 'signed-python',
      what: "The signature is over Python's own notation of a dictionary, as str(…) gives it, not over JSON.",
      remedy: 'Make the body by json.dumps(…) once; sign exactly these bytes, and send exactly these bytes.',
    },
  };
  const data = memberOf(tree, 'data');
  if (data === undefined) return;
  const ofData: Mistake = {
    kind: 'signed-data-only',
    what: 'The signature is over data alone, not over the whole body.',
    remedy: 'Sign all bytes of the body, from the first brace to the last.',
  };
  const dataText = text.slice(data.start, data.end);
  yield { bytes: Buffer.from(dataText), mistake: ofData };
  for (const { written } of writtenForms(dataText, data)) {
    if (seen.has(written)) continue;
    seen.add(written);
    yield { bytes: Buffer.from(written), mistake: ofData };
  }
  const compactBody = writeJson(tree, jsonForms[0] as (typeof jsonForms)[number]);
  yield {
    bytes: Buffer.from(JSON.stringify(compactBody)),
    mistake: {
      kind: 'json-twice',
      what: 'The signature is over the JSON written once more as a JSON text, in quotation marks.',
      remedy: 'Serialise once: sign and send the text that the first call gives.',
    },
  };
}

/** JSON as libraries write it. `JSON.stringify` alone makes other digits of a number. */
function* writtenForms(text: string, tree: JsonNode): Generator<{ written: string; writer: string }> {
  yield { written: JSON.stringify(JSON.parse(text)), writer: 'JSON.stringify' };
  for (const form of jsonForms) yield { written: writeJson(tree, form), writer: form.writer };
}

/** A form's fields: libraries send an object like that unless they are told to write JSON. */
function* formFields(text: string): Generator<SignedMessage> {
  if (!/^[\w.[\]%-]+=/.test(text)) return;
  const fields = new URLSearchParams(text);
  for (const value of fields.values()) {
    yield {
      bytes: Buffer.from(value),
      mistake: {
        kind: 'form-encoded',
        what: "The body is a form's fields, and the signature is over the value of one of them.",
        remedy: 'Send the JSON itself as the body, with Content-Type: application/json.',
      },
    };
  }
}

function payloadTimestamp(tree: JsonNode | undefined): string[] {
  const node = memberOf(tree, 'timestamp');
  if (node?.kind === 'string') return [node.value];
  return node?.kind === 'literal' ? [node.text] : [];
}

function* withTimestamp({ headers, body }: SentRequest, others: readonly string[]): Generator<SignedMessage> {
  const mistake: Mistake = {
    kind: 'signed-with-timestamp',
    what: 'The signature is over a timestamp and the body together, as other services ask for.',
    remedy: 'Sign the body alone. Its age is in the payload, by its own timestamp.',
  };
  const timestamps = new Set([...TIMESTAMP_HEADERS.flatMap((name) => valuesOf(headers, name)), ...others]);
  const [id] = [...valuesOf(headers, 'webhook-id'), ...valuesOf(headers, 'svix-id')];
  for (const timestamp of timestamps) {
    for (const separator of ['.', ':', '', '\n', '|', ',']) {
      yield { bytes: Buffer.concat([Buffer.from(`${timestamp}${separator}`), body]), mistake };
      yield { bytes: Buffer.concat([body, Buffer.from(`${separator}${timestamp}`)]), mistake };
    }
    yield { bytes: Buffer.concat([Buffer.from(`v0:${timestamp}:`), body]), mistake };
    if (id !== undefined) yield { bytes: Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]), mistake };
  }
}

function* withTarget(request: SentRequest): Generator<SignedMessage> {
  const mistake: Mistake = {
    kind: 'signed-with-address',
    what: 'The signature is over the method or the address and the body together.',
    remedy: 'Sign the body alone: neither method, path nor host belongs to what is signed.',
  };
  const { method, path, body, headers } = request;
  const target = targetOf(request);
  const [host = ''] = valuesOf(headers, 'host');
  const addresses = [path, target, `http://${host}${target}`, `https://${host}${target}`];
  const beginnings = new Set(
    addresses.flatMap((address) => [
      address,
      `${method} ${address}`,
      `${method}${address}`,
      `${method}\n${address}`,
    ]),
  );
  for (const beginning of [...beginnings, method]) {
    for (const separator of ['', '\n', '.', ':', ' ', '|', '\n\n']) {
      yield { bytes: Buffer.concat([Buffer.from(`${beginning}${separator}`), body]), mistake };
    }
    yield { bytes: Buffer.from(beginning), mistake };
  }
}

function* hashes(body: Buffer): Generator<SignedMessage> {
  const digest = createHash('sha256').update(body).digest();
  const mistake = (what: string): Mistake => ({
    kind: 'signed-a-digest',
    what: `The signature is over ${what} of the body, not over the body.`,
    remedy: 'Give the bytes of the body themselves to the HMAC: it does the hashing.',
  });
  yield { bytes: digest, mistake: mistake('the SHA-256') };
  yield { bytes: Buffer.from(digest.toString('hex')), mistake: mistake('the SHA-256 in hex') };
  yield { bytes: Buffer.from(digest.toString('base64')), mistake: mistake('the SHA-256 in base64') };
  yield { bytes: Buffer.from(body.toString('base64')), mistake: mistake('the base64') };
  yield { bytes: Buffer.from(body.toString('hex')), mistake: mistake('the hex digits') };
}
