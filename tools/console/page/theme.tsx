import { effect, signal } from '@preact/signals';
import { Icon } from './ui/icon.tsx';
import type { MenuItem } from './ui/menu.tsx';

export const themeItems = (): readonly MenuItem[] =>
  THEMES.map(({ name, label }) => ({
    label: (
      <>
        {label}{' '}
        {name === theme.value && (
          <>
            <Icon name="check" />
            <span class="visually-hidden">chosen</span>
          </>
        )}
      </>
    ),
    onChoose: () => {
      theme.value = name;
    },
  }));

/** The themes that the user can choose. `auto` follows the system's theme. */
const THEMES = [
  { name: 'auto', label: 'Theme of the system' },
  { name: 'light', label: 'Light theme' },
  { name: 'dark', label: 'Dark theme' },
] as const;

const STORAGE_KEY = 'console-theme';

const stored = localStorage.getItem(STORAGE_KEY);
const theme = signal(THEMES.find(({ name }) => name === stored)?.name ?? 'auto');

/** Applies the stored theme now, and any other when the user chooses it. */
export function applyTheme(): void {
  effect(() => {
    if (theme.value === 'auto') {
      localStorage.removeItem(STORAGE_KEY);
      delete document.documentElement.dataset.theme;
    } else {
      localStorage.setItem(STORAGE_KEY, theme.value);
      document.documentElement.dataset.theme = theme.value;
    }
  });
}
