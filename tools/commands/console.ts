import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { CONSOLE_FILE, NOT_RUNNING } from '../stage/local-folder.ts';
import { onStage, runOperation } from '../stage/operation.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { readJson } from '../terminal/files.ts';
import { portOption, time } from '../terminal/options.ts';

/** Default of `--since`. */
const SINCE = '1h';

/** Milliseconds within which a local console must answer, even if it is busy. */
const ANSWER_LIMIT = 5_000;

export const command = onStage(
  hookctlCommand('console', 'Shows a stage in the browser, with your AWS permissions, until Ctrl-C.'),
  'stage in AWS (default: only print the address of the local console)',
)
  .addOption(portOption('--port <port>', 'port of the console', 'CONSOLE_PORT', 3001))
  .option('--read-only', 'refuse all changes')
  .option(
    '--since <time>',
    `list deliveries since this time: 2026-01-31T09:00:00Z, 2026-01-31 or 3h (default: ${SINCE})`,
    time,
  )
  .action(async ({ port, readOnly = false, since = time(SINCE), ...where }) => {
    if (where.stage === undefined && where.outputs === undefined) {
      await printLocalAddress();
      return;
    }
    await runOperation(where, async ({ stack, signal, printLine }) => {
      const { pageCommands: commands } = await import('./page-commands.ts');
      const { startConsole } = await import('../console/server/start-console.ts');
      const { Source } = await import('../console/source.ts');
      const { HistoryStore } = await import('../stage/history/store.ts');
      const { assertPorts } = await import('../start/ports.ts');
      await assertPorts([{ option: 'port', port }]);
      const who = await stack.caller();
      const source = new Source(stack, new HistoryStore(), since);
      await using page = await startConsole({ source, port, readOnly, local: undefined, commands });
      source.follow((notice) => page.updates.notice(notice));
      printLine(`${stack.title}, as ${who}${readOnly ? ', read only' : ''}\n`);
      printLine(`  Console   ${page.url}\n`);
      printLine('Anyone who has this address has your permissions on the stage. Ctrl-C ends it.');
      if (!signal.aborted) await once(signal, 'abort');
    });
    // Ctrl-C is the usual way to end the command, so it is no error.
    process.exitCode = 0;
  });

/** @throws CommandError if `npm start` is not running */
async function printLocalAddress(): Promise<void> {
  if (!existsSync(CONSOLE_FILE)) {
    throw new CommandError('Name a stage: --stage … The local stack has its own console: npm start');
  }
  const { url } = readJson(CONSOLE_FILE) as { url: string };
  // A process that was killed has left its file, so the address is tried.
  await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(ANSWER_LIMIT) }).catch(() => {
    throw new CommandError(NOT_RUNNING);
  });
  console.log(`For the console of a stage in AWS, name it: --stage … The console of the local stack: ${url}`);
}
