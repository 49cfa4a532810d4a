import { effect, signal } from '@preact/signals';
import type { MenuItem } from './ui/menu.tsx';

/** The themes that the user can choose. `auto` follows the system's theme. */
const THEMES = { auto: 'Theme of the system', light: 'Light theme', dark: 'Dark theme' };

const STORAGE_KEY = 'console-theme';

const theme = signal(localStorage.getItem(STORAGE_KEY) ?? 'auto');

export const themeItems = (): readonly MenuItem[] =>
  Object.entries(THEMES).map(([name, label]) => ({
    label: name === theme.value ? `${label} ✓` : label,
    onChoose: () => {
      theme.value = name;
    },
  }));

/** Applies the stored theme now, and any other when the user chooses it. */
export function applyTheme(): void {
  effect(() => {
    localStorage.setItem(STORAGE_KEY, theme.value);
    document.documentElement.dataset.theme = theme.value;
  });
}
