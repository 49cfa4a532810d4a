export type Theme = 'auto' | 'light' | 'dark';

const KEEPER = 'console-theme';

export function readTheme(): Theme {
  const kept = localStorage.getItem(KEEPER);
  return kept === 'light' || kept === 'dark' ? kept : 'auto';
}

/** Shows the page in a theme, now and next time. `auto` is what the system is set to. */
export function applyTheme(theme: Theme): void {
  if (theme === 'auto') {
    localStorage.removeItem(KEEPER);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(KEEPER, theme);
    document.documentElement.dataset.theme = theme;
  }
}
