import type { Queues } from '../../api.ts';
import { DeadLettersView } from '../dead-letters/dead-letters-view.tsx';
import { ReplayView } from '../replay/replay-view.tsx';
import { SubNav } from '../shared/sub-nav.tsx';
import { useLoad } from '../shared/use-load.ts';
import { REFRESH, useRefresh } from '../shared/use-refresh.ts';
import { useConsole } from '../shell/context.ts';
import { formatRoute, type Route } from '../shell/route.ts';
import { useTaskEnds } from '../tasks/tasks-context.tsx';
import { deadOf } from './depths.ts';
import { QueueList } from './queue-list.tsx';

/** The queues, what is on them, their dead letters over all, and the replay: `#/queues/<queue, dead-letters or replay>`. */
export function QueuesView({ route }: { route: Route }) {
  const { api } = useConsole();
  const [part] = route.path;
  const queues = useLoad('queues', (signal) => api.get<Queues>('/api/queues', signal));
  useRefresh(queues, REFRESH);
  useTaskEnds(queues.reload);
  const dead = queues.value === undefined ? 0 : deadOf(queues.value);
  return (
    <div class="view">
      <SubNav
        label="Queues"
        active={part === 'dead-letters' || part === 'replay' ? part : 'queues'}
        views={[
          { name: 'queues', label: 'Queues', href: formatRoute({ view: 'queues' }) },
          {
            name: 'dead-letters',
            label: (
              <>
                Dead letters
                {dead > 0 && <span class="count tone-bad">{dead.toLocaleString('en')}</span>}
              </>
            ),
            href: formatRoute({ view: 'queues', path: ['dead-letters'] }),
          },
          { name: 'replay', label: 'Replay', href: formatRoute({ view: 'queues', path: ['replay'] }) },
        ]}
      />
      {part === 'dead-letters' && <DeadLettersView />}
      {part === 'replay' && <ReplayView />}
      {part !== 'dead-letters' && part !== 'replay' && <QueueList queues={queues} selected={part} />}
    </div>
  );
}
