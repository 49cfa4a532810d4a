import { formatRoute, type ViewName } from './route.ts';
import { faults, needsYouCount, queues, stack } from './store.ts';
import { themeItems } from './theme.ts';
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
      <a class="brand row" href={formatRoute({ view: 'deliveries' })} title={stack.title}>
        <img src="/logo.svg" width="20" height="20" alt="" />
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
  const isNeedsYou = of === 'needs-you';
  if (isNeedsYou && known === undefined) return <span class="count">–</span>;
  const broken = of === 'queues' ? (faults.value?.active.length ?? 0) : 0;
  const count = isNeedsYou && known !== undefined ? needsYouCount(known) : broken;
  if (count === 0) return null;
  return isNeedsYou ? (
    <span class="count tone-bad">{count.toLocaleString('en')}</span>
  ) : (
    <span class="count tone-warning">{count === 1 ? '1 fault' : `${count} faults`}</span>
  );
}
