import type { Task } from '../../api.ts';
import type { ApiClient } from '../api-client.ts';
import type { LiveStore } from '../stream/live-store.ts';

/** The stream tells of the end at once; where it is broken, the server is asked this often. */
const ASKED_EVERY_MS = 1_000;

/** A task once it has come to its end. */
export async function taskEnd(task: Task, live: LiveStore, api: ApiClient): Promise<Task> {
  let newest = task;
  while (newest.state === 'running') {
    await changeOf(live);
    newest = live.state.tasks.find(({ id }) => id === task.id) ?? newest;
    if (newest.state !== 'running' || live.state.connection.state === 'live') continue;
    newest = await api.get<Task>(`/api/tasks/${encodeURIComponent(task.id)}`);
  }
  return newest;
}

/** Until the stream tells of something, or it is time to ask. */
function changeOf(live: LiveStore): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      unsubscribe();
      resolve();
    };
    const timer = setTimeout(end, ASKED_EVERY_MS);
    const unsubscribe = live.subscribe(end);
  });
}
