/** The description that the page has inside. */
export const readDocument = (): unknown => JSON.parse(document.getElementById('document')?.textContent ?? '');

export const place = (): HTMLElement => {
  const element = document.getElementById('page');
  if (element === null) throw new Error('The page has no #page');
  return element;
};
