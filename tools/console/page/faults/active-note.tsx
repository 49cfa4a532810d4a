import { formatRoute } from '../shell/route.ts';
import { activeText } from './fault-text.ts';
import { useFaults } from './faults-context.tsx';

/** At the top of every view while a fault is on: what is seen may be its doing. */
export function ActiveNote() {
  const active = useFaults().value?.active ?? [];
  return (
    <span class="fault-note" role="status">
      {active.length > 0 && (
        <a class="badge tone-warning" href={formatRoute({ view: 'faults' })}>
          <span>{activeText(active)}</span>
        </a>
      )}
    </span>
  );
}
