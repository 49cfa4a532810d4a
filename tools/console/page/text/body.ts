/** The bytes that came in, as text too. */
export interface Body {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** If the bytes are not UTF-8, it has U+FFFD for what is not. */
  readonly text: string;
  readonly isUtf8: boolean;
}

export function bodyOf(buffer: ArrayBuffer): Body {
  const bytes = new Uint8Array(buffer);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { bytes, text, isUtf8: true };
  } catch {
    return { bytes, text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), isUtf8: false };
  }
}
