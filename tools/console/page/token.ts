import { tokenOf } from './token-of.ts';

/** Where the token of a stage's page stays until its tab is closed. */
const KEEPER = 'console-token';

/** What to do where the server does not take the token, which is another one after each start. */
export const TOKEN_ADVICE =
  'This tab does not have the console’s token: open the address that the terminal shows';

/**
 * The token that the server wants of every request. The page of the local stack has it in a meta element; that of a
 * stage in the fragment of its first address, from which it is taken away, so that no link and no history has it.
 */
export function takeToken(): string {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="console-token"]');
  if (meta !== null && meta.content !== '') return meta.content;
  keepToken('#/deliveries');
  return sessionStorage.getItem(KEEPER) ?? '';
}

/** An address with a token that is opened in this tab is a console that was started anew: its page is loaded, where it was. */
export function loadOnNewToken(): void {
  addEventListener('hashchange', ({ oldURL }) => {
    // The page's own changes of the address have no old one.
    if (oldURL !== '' && keepToken(new URL(oldURL).hash)) location.reload();
  });
}

/** @param hash of the address that takes the token's place @returns whether there was one */
function keepToken(hash: string): boolean {
  const given = tokenOf(location.hash);
  if (given === undefined) return false;
  sessionStorage.setItem(KEEPER, given);
  history.replaceState(null, '', `${location.pathname}${hash}`);
  return true;
}
