import { useState } from 'preact/hooks';
import { Icon } from '../shared/icon.tsx';
import { applyTheme, readTheme, type Theme } from './theme.ts';

const NEXT: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' };
const ICONS = { auto: 'auto', light: 'sun', dark: 'moon' } as const;
const NAMES: Record<Theme, string> = { auto: 'as the system', light: 'light', dark: 'dark' };

export function ThemeSwitch() {
  const [theme, setTheme] = useState(readTheme);
  const label = `Colours: ${NAMES[theme]}. Change to ${NAMES[NEXT[theme]]}`;
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      onClick={() => {
        applyTheme(NEXT[theme]);
        setTheme(NEXT[theme]);
      }}
    >
      <Icon name={ICONS[theme]} />
    </button>
  );
}
