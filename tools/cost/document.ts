/** Where in the document each report stands: between `<!-- cost -->` and `<!-- /cost -->`. */
export type Reports = Readonly<Record<'cost' | 'scale', string>>;

/**
 * The document with the reports in their places.
 * @throws Error where a place is missing
 */
export function insertReports(document: string, reports: Reports): string {
  return Object.entries(reports).reduce((text, [name, report]) => {
    const place = new RegExp(`<!-- ${name} -->\\n[^]*?<!-- /${name} -->`);
    if (!place.test(text)) throw new Error(`The document has no <!-- ${name} --> … <!-- /${name} -->`);
    return text.replace(place, () => `<!-- ${name} -->\n\n${report}\n\n<!-- /${name} -->`);
  }, document);
}
