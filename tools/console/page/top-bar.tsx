import type { ComponentChildren } from 'preact';
import { formatRoute, type ViewName } from './route.ts';
import { deadLetterCount, faults, needsYouCount, queues, stack } from './store.ts';
import { TasksButton, toggleTasks } from './task-dock.tsx';
import { themeItems } from './theme.tsx';
import { Icon } from './ui/icon.tsx';
import { isNarrow } from './ui/is-narrow.ts';
import { Menu } from './ui/menu.tsx';
import { showHelp } from './use-keys.tsx';
import { useRun } from './use-run.tsx';

interface TopBarProps {
  /** Links to the views, from left to right. */
  views: readonly { readonly name: ViewName; readonly title: string; readonly address: string }[];
  current: ViewName;
  /** State of the connection, shown at the right. */
  children: ComponentChildren;
}

/** Runs `doctor`. `did` is shown if no check failed; otherwise the output of the command opens. */
const CHECK_STAGE = {
  argv: ['doctor'],
  does: 'Checks everything that it can read.',
  did: 'No check failed.',
  reads: true,
} as const;

/**
 * Header of one line at every width: the name of the stack, the views with their counts, and a menu of the
 * rest.
 */
export function TopBar({ views, current, children }: TopBarProps) {
  const { start } = useRun();
  return (
    <header class="top">
      <a class="brand" href={formatRoute({ view: 'deliveries' })} title={stack.title}>
        <svg class="logo" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
          {/* The file logo.svg, which is the favicon, has the same shapes. */}
          <path d="M3 6.5h6.5M3 10h4M3 13.5h6.5" />
          <circle cx="13.5" cy="10" r="4.5" />
        </svg>
        <span class="brand-title cut">{stack.title}</span>
      </a>
      {stack.readOnly && <span class="badge read-only">Read only</span>}
      <nav class="nav" aria-label="Views">
        {isNarrow.value ? (
          <ViewMenu views={views} current={current} />
        ) : (
          views.map(({ name, title, address }) => (
            <a key={name} href={address} aria-current={name === current ? 'page' : undefined}>
              {title}
              <Count of={name} />
            </a>
          ))
        )}
      </nav>
      <div class="top-end">
        {children}
        {!isNarrow.value && <TasksButton />}
        <Menu
          label="More"
          items={[
            ...(isNarrow.value ? [{ label: 'Tasks', onChoose: toggleTasks }] : []),
            ...(stack.readOnly
              ? []
              : [{ label: 'Check this stack (doctor)', onChoose: () => start([CHECK_STAGE]) }]),
            { label: 'Keyboard shortcuts', keyHint: '?', onChoose: showHelp },
            ...themeItems(),
          ]}
        />
      </div>
    </header>
  );
}

/**
 * Menu of all views, for narrow pages. The count of messages that need a person is outside, because the menu
 * is usually closed.
 */
function ViewMenu({ views, current }: Pick<TopBarProps, 'views' | 'current'>) {
  return (
    <>
      <Menu
        button={
          <>
            {views.find(({ name }) => name === current)?.title}
            <Icon name="down" />
          </>
        }
        items={views.map(({ name, title, address }) => ({
          label: (
            <>
              {title} <Count of={name} />
            </>
          ),
          onChoose: () => {
            location.hash = address;
          },
        }))}
      />
      {views
        .filter(({ name }) => countOf(name) > 0)
        .map(({ name, title, address }) => (
          <a key={name} href={address} title={title}>
            <span class="visually-hidden">{title}: </span>
            <Count of={name} />
          </a>
        ))}
    </>
  );
}

function Count({ of }: { of: ViewName }) {
  const count = countOf(of);
  if (count === 0) return null;
  const isFault = of === 'faults';
  return (
    <span class={`count tone-${isFault ? 'warning' : 'bad'}`}>
      {count.toLocaleString('en')}
      {of === 'deliveries' && <span class="visually-hidden">need you</span>}
      {isFault && <span class={isNarrow.value ? 'visually-hidden' : undefined}>active</span>}
    </span>
  );
}

/** Number shown beside a view's name: how many things in the view a person must handle. */
function countOf(view: ViewName): number {
  if (view === 'faults') return faults.value?.active.length ?? 0;
  const known = queues.value.value;
  if (known === undefined) return 0;
  return view === 'deliveries' ? needsYouCount(known) : view === 'dead-letters' ? deadLetterCount(known) : 0;
}
