import type { Confirmation } from '../api.ts';
import { plan } from './actions.ts';
import { notFound } from './problem.ts';
import { json, type Route } from './route.ts';
import { parseTaskRequest } from './task-request.ts';
import { KEPT_TASKS } from './tasks.ts';

const unknown = (id: string) => notFound(`There is no task ${id}: the newest ${KEPT_TASKS} are kept`);

export const taskRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/tasks',
    handler: (_call, { acting: { tasks } }) => json(tasks.list()),
  },
  {
    method: 'GET',
    path: '/api/tasks/:id',
    handler: ({ params: { id = '' } }, { acting: { tasks } }) => {
      const task = tasks.get(id);
      if (task === undefined) throw unknown(id);
      return json(task);
    },
  },
  {
    method: 'POST',
    path: '/api/tasks',
    handler: async (call, { source, acting: { tasks, local, inspect, use } }) => {
      const { action, confirmed } = parseTaskRequest(await call.json());
      const work = await plan(action, { source, local, inspect, use });
      const { command, explanation } = work;
      if (!confirmed) return json({ command, explanation } satisfies Confirmation);
      return json(tasks.start(work), 202);
    },
  },
  {
    method: 'DELETE',
    path: '/api/tasks/:id',
    handler: ({ params: { id = '' } }, { acting: { tasks } }) => {
      const task = tasks.get(id);
      if (task === undefined) throw unknown(id);
      // One that has just ended is as good.
      tasks.interrupt(id);
      return json(tasks.get(id) ?? task, 202);
    },
  },
];
