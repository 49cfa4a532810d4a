import { Empty } from '../shared/empty.tsx';
import type { Route } from '../shell/route.ts';

export function QueuesView(_: { route: Route }) {
  return <Empty title="Queues" />;
}
