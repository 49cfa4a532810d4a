import { useState } from 'preact/hooks';
import { IconButton } from './ui/button.tsx';

export function ThemeSwitch() {
  const [theme, setTheme] = useState(readTheme);
  return (
    <IconButton
      icon={ICONS[theme]}
      label={`Theme: ${NAMES[theme]}. Switch to ${NAMES[NEXT[theme]]}`}
      onClick={() => {
        setTheme(NEXT[theme]);
        applyTheme(NEXT[theme]);
      }}
    />
  );
}

type Theme = 'auto' | 'light' | 'dark';

const STORAGE_KEY = 'console-theme';

export function readTheme(): Theme {
  const stored = localStorage.getItem(STORAGE_KEY);
  return stored === 'light' || stored === 'dark' ? stored : 'auto';
}

/** Applies a theme and stores it. `auto` follows the system. */
export function applyTheme(theme: Theme): void {
  if (theme === 'auto') {
    localStorage.removeItem(STORAGE_KEY);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(STORAGE_KEY, theme);
    document.documentElement.dataset.theme = theme;
  }
}

const NEXT: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' };
const ICONS = { auto: 'auto', light: 'sun', dark: 'moon' } as const;
const NAMES: Record<Theme, string> = { auto: 'system', light: 'light', dark: 'dark' };
