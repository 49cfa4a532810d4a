/** The token in the fragment of an address that a terminal shows: `#token=…`. */
export const tokenOf = (hash: string): string | undefined =>
  new URLSearchParams(hash.replace(/^#/, '')).get('token') || undefined;
