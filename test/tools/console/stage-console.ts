import type { Notice } from '../../../tools/console/api.ts';
import { type Console, type ConsoleOptions, startConsole } from '../../../tools/console/server/server.ts';
import { Source } from '../../../tools/console/source.ts';
import { HistoryStore } from '../../../tools/stage/history/store.ts';
import type { Stage } from '../../../tools/stage/stage.ts';
import { Operator } from '../stage/queues/support.ts';
import { Api, TEST_TOKEN } from './support.ts';

/** A stack that is looked at as a deployed stage is: by AWS' APIs alone. */
export interface StageConsole extends AsyncDisposable {
  readonly operator: Operator;
  readonly source: Source;
  readonly console: Console;
  readonly api: Api;
  /** What pages were told. */
  readonly notices: readonly Notice[];
}

export async function startStageConsole(
  aws: Parameters<typeof Operator.create>[0],
  {
    change = (stack) => stack,
    since = new Date(Date.now() - 60 * 60_000),
    ...options
  }: Partial<ConsoleOptions> & { readonly change?: (stack: Stage) => Stage; readonly since?: Date } = {},
): Promise<StageConsole> {
  const operator = await Operator.create(aws);
  const store = new HistoryStore();
  const source = new Source(change(operator.stack), store, since);
  const console = await startConsole({
    source,
    port: 0,
    token: TEST_TOKEN,
    readOnly: false,
    local: undefined,
    ...options,
  });
  const notices: Notice[] = [];
  source.follow((notice) => notices.push(notice));
  return {
    operator,
    source,
    console,
    api: new Api(console.port),
    notices,
    async [Symbol.asyncDispose]() {
      await console.close();
      await source.close();
      store.close();
      await operator.close();
    },
  };
}
