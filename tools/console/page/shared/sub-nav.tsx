import type { ComponentChildren } from 'preact';

export interface SubView {
  readonly name: string;
  readonly label: ComponentChildren;
  readonly href: string;
}

interface SubNavProps {
  /** For a screen reader: `Queues`. */
  label: string;
  views: readonly SubView[];
  active: string;
}

/** The parts of a view, each with an address of its own. */
export function SubNav({ label, views, active }: SubNavProps) {
  return (
    <div class="sub-nav">
      <h1 class="visually-hidden">{label}</h1>
      <nav class="sub-nav-views" aria-label={label}>
        {views.map(({ name, label: text, href }) => (
          <a key={name} href={href} aria-current={name === active ? 'page' : undefined}>
            {text}
          </a>
        ))}
      </nav>
    </div>
  );
}
