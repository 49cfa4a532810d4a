/**
 * Replaces the text between `<!-- name -->` and `<!-- /name -->` in a document.
 * @throws Error if the document has no such marks
 */
export function fillPlace(document: string, name: string, text: string): string {
  const place = new RegExp(`<!-- ${name} -->\\n[^]*?<!-- /${name} -->`);
  if (!place.test(document)) throw new Error(`The document has no <!-- ${name} --> … <!-- /${name} -->`);
  return document.replace(place, () => `<!-- ${name} -->\n\n${text}\n\n<!-- /${name} -->`);
}
