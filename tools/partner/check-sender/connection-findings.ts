import { type Finding, wrong } from './finding.ts';

/** What came on a connection that is no request, or none that ended. */
export interface BrokenConnection {
  /** As Node.js names the error: `HPE_INVALID_METHOD`. */
  readonly code: string;
  /** What was read last. */
  readonly bytes: Buffer;
  /** Bytes of the body that came, where its head was complete. */
  readonly bodyBytes: number | undefined;
  /** How long a request may take, in milliseconds. */
  readonly limitMilliseconds: number;
}

/** TLS' record type of a handshake (RFC 8446 §5.1). */
const TLS_HANDSHAKE = 0x16;

const FRAMING = new Set([
  'HPE_UNEXPECTED_CONTENT_LENGTH',
  'HPE_INVALID_CONTENT_LENGTH',
  'HPE_INVALID_TRANSFER_ENCODING',
  'HPE_INVALID_CHUNK_SIZE',
  'HPE_CHUNK_EXTENSIONS_OVERFLOW',
]);

const HEADERS = new Set([
  'HPE_INVALID_HEADER_TOKEN',
  'HPE_CR_EXPECTED',
  'HPE_LF_EXPECTED',
  'HPE_INVALID_VERSION',
  'HPE_INVALID_URL',
]);

/** Says what a connection's bytes are instead of an HTTP request. */
export function connectionFinding({ code, bytes, bodyBytes, limitMilliseconds }: BrokenConnection): Finding {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const part =
      bodyBytes === undefined
        ? 'its headers never ended'
        : `of its body ${bodyBytes.toLocaleString('en')} bytes came`;
    return wrong({
      kind: 'never-ended',
      what: `A request was not complete after ${limitMilliseconds / 1000} s: ${part}.`,
      remedy:
        bodyBytes === undefined
          ? 'End the headers with an empty line: CR LF, twice in a row.'
          : 'See that Content-Length is the number of bytes of the body, and that all of them are sent.',
    });
  }
  if (bytes[0] === TLS_HANDSHAKE) {
    return wrong({
      kind: 'tls',
      what: 'TLS was spoken: this checker takes plain HTTP.',
      remedy: 'Send to http:// here. The service itself takes https:// alone.',
    });
  }
  if (bytes.subarray(0, 14).equals(Buffer.from('PRI * HTTP/2.0'))) {
    return wrong({
      kind: 'http-2',
      what: 'HTTP/2 was spoken without TLS: this checker takes HTTP/1.1.',
      remedy: 'Use HTTP/1.1 here. At the service a client chooses HTTP/2 by TLS.',
    });
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return wrong({
      kind: 'head-too-large',
      what: 'The headers have more than 16 KB: API Gateway takes 10,240 bytes.',
      remedy: 'Send fewer headers: cookies and tracing add up.',
    });
  }
  if (FRAMING.has(code)) {
    return wrong({
      kind: 'framing',
      what: 'Content-Length or Transfer-Encoding is twice, or no number, or both are there, or a chunk is none.',
      remedy: 'Let the HTTP client set them; set neither by hand.',
    });
  }
  if (bodyBytes !== undefined || code === 'ECONNRESET' || code === 'HPE_INVALID_EOF_STATE') {
    return brokenOff(bodyBytes);
  }
  if (HEADERS.has(code)) {
    return wrong({
      kind: 'malformed-head',
      what: 'The request line or a header has a form that HTTP does not allow, such as a line break in a value.',
      remedy: 'Take line breaks off the signature before it is set: base64 tools and openssl add some.',
    });
  }
  return wrong({
    kind: 'not-http',
    what: 'What came is not an HTTP request.',
    remedy: 'Send to this port by HTTP/1.1, with a client that speaks it.',
  });
}

/** @param bodyBytes that came, where the head was complete */
export function brokenOff(bodyBytes: number | undefined): Finding {
  const part =
    bodyBytes === undefined
      ? 'within its headers'
      : `after ${bodyBytes.toLocaleString('en')} bytes of its body`;
  return wrong({
    kind: 'broken-off',
    what: `The sender broke the request off ${part}.`,
    remedy: 'See why it did: a time-out that is too short, or a process that ended.',
  });
}
