import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { hasModifier } from '../shortcuts.ts';

/**
 * Tabs with one panel. Arrow keys move between tabs and open them (WAI-ARIA's tabs, automatic activation).
 */
export function Tabs<Name extends string>({ label, tabs, active, onChange, children }: TabsProps<Name>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    if (step === undefined || hasModifier(event)) return;
    event.preventDefault();
    event.stopPropagation();
    const current = tabs.findIndex(({ name }) => name === active);
    const to = tabs[Math.min(tabs.length - 1, Math.max(0, current + step))];
    if (to === undefined) return;
    onChange(to.name);
    list.current?.querySelector<HTMLElement>(`[data-tab="${to.name}"]`)?.focus();
  };
  return (
    <div class="tabs">
      <div class="tab-list" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map(({ name, label: text }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            data-tab={name}
            aria-selected={name === active}
            aria-controls={`${id}-panel`}
            tabIndex={name === active ? 0 : -1}
            onClick={() => onChange(name)}
          >
            {text}
          </button>
        ))}
      </div>
      <div class="tab-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${active}`}>
        {children}
      </div>
    </div>
  );
}

export interface Tab<Name extends string> {
  readonly name: Name;
  readonly label: ComponentChildren;
}

interface TabsProps<Name extends string> {
  label: string;
  tabs: readonly Tab<Name>[];
  active: Name;
  onChange: (name: Name) => void;
  children: ComponentChildren;
}
