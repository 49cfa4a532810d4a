import { formatRoute, type ViewName } from './route.ts';
import { faults, needsYouCount, queues, stack } from './store.ts';
import { themeItems } from './theme.tsx';
import { Menu } from './ui/menu.tsx';
import { showHelp } from './use-keys.tsx';
import { useRun } from './use-run.tsx';

interface TopBarProps {
  /** Links to the views, from left to right. */
  views: readonly { readonly name: ViewName; readonly title: string; readonly address: string }[];
  current: ViewName;
}

const CHECK_STAGE = {
  argv: ['doctor'],
  does: 'Checks everything that it can read.',
  did: 'No check failed.',
  reads: true,
} as const;

/** Header: the name of the stack, the views with their counts, and a menu of the rest. */
export function TopBar({ views, current }: TopBarProps) {
  const { start } = useRun();
  return (
    <header class="top">
      <a class="brand" href={formatRoute({ view: 'deliveries' })} title={stack.title}>
        <svg class="logo" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
          {/* The file logo.svg, which is the favicon, has the same shapes. */}
          <path d="M3 6.5h6.5M3 10h4M3 13.5h6.5" />
          <circle cx="13.5" cy="10" r="4.5" />
        </svg>
        <span class={stack.local ? 'brand-title' : 'brand-title badge tone-warning'}>{stack.title}</span>
      </a>
      {stack.readOnly && <span class="badge">Read only</span>}
      <nav class="nav" aria-label="Views">
        {views.map(({ name, title, address }) => (
          <a key={name} href={address} aria-current={name === current ? 'page' : undefined}>
            {title}
            <Count of={name} />
          </a>
        ))}
      </nav>
      <Menu
        label="More"
        items={[
          { label: 'Check this stack (doctor)', onChoose: () => start([CHECK_STAGE]) },
          { label: 'Keyboard shortcuts', keyHint: '?', onChoose: showHelp },
          ...themeItems(),
        ]}
      />
    </header>
  );
}

/** Number beside a view's name: messages that need a person, or active faults. */
function Count({ of }: { of: ViewName }) {
  const known = queues.value.value;
  if (of === 'needs-you') {
    if (known === undefined) return <span class="count">–</span>;
    const count = needsYouCount(known);
    return count === 0 ? null : <span class="count tone-bad">{count.toLocaleString('en')}</span>;
  }
  const broken = faults.value?.active.length ?? 0;
  if (of !== 'queues' || broken === 0) return null;
  return (
    <span class="count tone-warning">
      {broken} {broken === 1 ? 'fault' : 'faults'}
    </span>
  );
}
