import { Hono } from 'hono';
import type { LocalStack } from '../../../local/local-stack.ts';
import type { Task } from '../../../tools/console/api.ts';
import type { ConsoleContext } from '../../../tools/console/server/context.ts';
import { News } from '../../../tools/console/server/news.ts';
import { problemOf } from '../../../tools/console/server/problem.ts';
import { QueueUse } from '../../../tools/console/server/queue-use.ts';
import { Tasks, taskRoutes } from '../../../tools/console/server/tasks.ts';
import { Source } from '../../../tools/console/source.ts';
import { LocalFeed } from '../../../tools/stage/history/local-feed.ts';
import { Stage } from '../../../tools/stage/stage.ts';
import { startTestStack, TEST_SECRET } from '../../support/test-stack.ts';

/** A local stack, and the tasks of its console. */
export type TestTasks = Awaited<ReturnType<typeof startTestTasks>>;

export async function startTestTasks() {
  const feed = new LocalFeed();
  const stack: LocalStack = await startTestStack({ observer: feed, onLog: (line) => feed.onLog(line) });
  feed.attach(stack);
  const source = new Source(new Stage('the local stack', stack.outputs), feed.store);
  const changes: Task[] = [];
  const tasks = new Tasks(source.stage, (task) => changes.push(task));
  const closing = new AbortController();
  const context: ConsoleContext = {
    source,
    readOnly: false,
    local: { stack, secret: TEST_SECRET },
    news: new News(),
    use: new QueueUse(),
    inspect: (url) => stack.inspectQueue(url),
    closing: closing.signal,
  };
  source.follow(() => {});
  const appOf = (one: ConsoleContext) =>
    new Hono()
      .onError((error, c) => {
        const details = problemOf(error);
        if (details === undefined) throw error;
        return c.json(details, details.status as 400);
      })
      .route('/api/tasks', taskRoutes(one, tasks));
  const app = appOf(context);
  const request = async (method: string, path: string, body?: unknown, to = app) => {
    const response = await to.request(path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: a test says of each answer what it is to be
    return { status: response.status, body: (await response.json()) as any };
  };
  return {
    stack,
    source,
    feed,
    tasks,
    changes,
    request,
    requestOfStage: (body: unknown) =>
      request('POST', '/api/tasks', body, appOf({ ...context, local: undefined, inspect: undefined })),
    async [Symbol.asyncDispose]() {
      await tasks.close();
      closing.abort();
      await source.close();
      await stack.close();
      feed[Symbol.dispose]();
    },
  };
}
