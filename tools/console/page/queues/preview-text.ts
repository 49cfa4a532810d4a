/** Characters of a body that one line may need. */
const LONGEST = 200;

/** What a body is about, in a line: the data of an event, else its beginning. */
export function previewText(body: string): string {
  return (dataText(body) ?? body).slice(0, LONGEST).replaceAll(/\s+/g, ' ').trim();
}

/** @returns undefined where it is no event, or only a part of one */
function dataText(body: string): string | undefined {
  try {
    const { data } = Object(JSON.parse(body));
    return data === undefined ? undefined : JSON.stringify(data);
  } catch {
    return undefined;
  }
}
