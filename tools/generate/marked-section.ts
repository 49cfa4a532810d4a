/**
 * A document with a text in its place: between `<!-- name -->` and `<!-- /name -->`.
 * @throws Error where the document has no such place
 */
export function fillPlace(document: string, name: string, text: string): string {
  const place = new RegExp(`<!-- ${name} -->\\n[^]*?<!-- /${name} -->`);
  if (!place.test(document)) throw new Error(`The document has no <!-- ${name} --> … <!-- /${name} -->`);
  return document.replace(place, () => `<!-- ${name} -->\n\n${text}\n\n<!-- /${name} -->`);
}
