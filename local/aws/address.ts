/** The path of a request's address, still encoded. */
export function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '/';
}

export function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(url.slice(pathOf(url).length));
}
