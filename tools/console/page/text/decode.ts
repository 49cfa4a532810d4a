/** Bytes as text. */
export interface Decoded {
  readonly text: string;
  /** Whether the bytes are UTF-8: else the text has U+FFFD for what is not. */
  readonly isUtf8: boolean;
}

export function decode(bytes: Uint8Array): Decoded {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), isUtf8: true };
  } catch {
    return { text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), isUtf8: false };
  }
}
