/** Milliseconds within which a browser starts to write the file. */
const SAVED_WITHIN = 10_000;

/** This content type makes a browser save the bytes and not display them. */
const TYPE = 'application/octet-stream';

export function saveFile(name: string, content: BlobPart): void {
  const address = URL.createObjectURL(new Blob([content], { type: TYPE }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), SAVED_WITHIN);
}
