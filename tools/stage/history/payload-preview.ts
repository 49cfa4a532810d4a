const PREVIEW_LENGTH = 200;

/** Characters of a body that are read. Parsing a longer one takes too long for a row of a list. */
export const PREVIEWED_LENGTH = 16 * 1024;

/** A body in one line: the data of an event, otherwise the beginning of the body. */
export function payloadPreview(body: string): string {
  const text = body.length > PREVIEWED_LENGTH ? body : (dataText(body) ?? body);
  return text.slice(0, PREVIEW_LENGTH).replaceAll(/\s+/g, ' ').trim();
}

/** @returns undefined if it is not an event, or is cut off */
function dataText(body: string): string | undefined {
  try {
    const { data } = Object(JSON.parse(body));
    return data === undefined ? undefined : JSON.stringify(data);
  } catch {
    return undefined;
  }
}
