import { useSignal } from '@preact/signals';
import { IconButton } from './ui/button.tsx';

type Theme = 'auto' | 'light' | 'dark';

const KEEPER = 'console-theme';

export function readTheme(): Theme {
  const kept = localStorage.getItem(KEEPER);
  return kept === 'light' || kept === 'dark' ? kept : 'auto';
}

/** Shows the page in a theme and remembers it. `auto` follows the system. */
export function applyTheme(theme: Theme): void {
  if (theme === 'auto') {
    localStorage.removeItem(KEEPER);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(KEEPER, theme);
    document.documentElement.dataset.theme = theme;
  }
}

const NEXT: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' };
const ICONS = { auto: 'auto', light: 'sun', dark: 'moon' } as const;
const NAMES: Record<Theme, string> = { auto: 'system', light: 'light', dark: 'dark' };

export function ThemeSwitch() {
  const theme = useSignal(readTheme());
  const { value } = theme;
  return (
    <IconButton
      icon={ICONS[value]}
      label={`Theme: ${NAMES[value]}. Switch to ${NAMES[NEXT[value]]}`}
      onClick={() => {
        theme.value = NEXT[value];
        applyTheme(theme.value);
      }}
    />
  );
}
