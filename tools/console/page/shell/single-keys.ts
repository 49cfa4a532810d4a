const KEEPER = 'console-single-keys';

/** Whether keys of one character do something: speech that is taken for typing would set them off (WCAG 2.1.4). */
export const hasSingleKeys = (): boolean => localStorage.getItem(KEEPER) !== 'off';

/** Now and next time. */
export function setSingleKeys(on: boolean): void {
  if (on) localStorage.removeItem(KEEPER);
  else localStorage.setItem(KEEPER, 'off');
}
