export const DETAIL_TABS = ['overview', 'request', 'answer', 'logs'] as const;
export type DetailTab = (typeof DETAIL_TABS)[number];

/** The one that an address names. */
export const tabOf = (name: string | undefined): DetailTab =>
  DETAIL_TABS.find((tab) => tab === name) ?? 'overview';

/** The tab beside one, or itself at either end. */
export function tabBeside(tab: DetailTab, step: 1 | -1): DetailTab {
  const index = DETAIL_TABS.indexOf(tab) + step;
  return DETAIL_TABS[Math.min(DETAIL_TABS.length - 1, Math.max(0, index))] ?? tab;
}
