/** Where the token of a stage's page stays until its tab is closed. */
const KEEPER = 'console-token';

/**
 * The token that the server wants of every request. The page of the local stack has it in a meta element; that of a
 * stage in the fragment of its first address, from which it is taken away, so that no link and no history has it.
 */
export function takeToken(): string {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="console-token"]');
  if (meta !== null && meta.content !== '') return meta.content;
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given !== null) {
    sessionStorage.setItem(KEEPER, given);
    history.replaceState(null, '', `${location.pathname}#/deliveries`);
  }
  return sessionStorage.getItem(KEEPER) ?? '';
}
