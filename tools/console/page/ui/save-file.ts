/** Milliseconds after which the browser has started to write the file, so that its URL can be released. */
const URL_LIFETIME = 10_000;

/** Content type for which a browser saves the bytes instead of displaying them. */
const TYPE = 'application/octet-stream';

export function saveFile(name: string, content: BlobPart): void {
  const address = URL.createObjectURL(new Blob([content], { type: TYPE }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), URL_LIFETIME);
}
