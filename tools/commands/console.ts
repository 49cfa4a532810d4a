import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Option } from '@commander-js/extra-typings';
import { startConsole } from '../console/server/server.ts';
import { StageSource } from '../console/stage-source.ts';
import { caller } from '../operate/caller.ts';
import type { Operation } from '../operate/dead-letters/operation.ts';
import { outputsOption, work } from '../operate/work.ts';
import { npmScript } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { port, time } from '../terminal/options.ts';

/** How far back the list reaches where nothing is said. */
const SINCE = '1h';

interface Settings {
  readonly port: number;
  readonly readOnly: boolean;
  readonly since: Date;
}

/** `npm run console -- --stage prod`: a deployed stage in the browser, until Ctrl-C. */
export const command = npmScript(
  'console',
  'A deployed stage in the browser: deliveries, queues, dead letters, tables. It runs on this machine until Ctrl-C, with your own AWS rights.',
)
  .addOption(new Option('--stage <stage>', 'a stage in AWS'))
  .addOption(outputsOption())
  .addOption(
    new Option('--port <port>', 'of the console; 0: any free one')
      .env('CONSOLE_PORT')
      .argParser(port)
      .default(3001),
  )
  .option('--read-only', 'refuses everything that changes something')
  .option('--since <time>', `the list begins then: a time, a date, or 90m, 3h, 7d (default: ${SINCE})`, time)
  .action(async ({ port, readOnly = false, since = time(SINCE), ...where }) => {
    if (where.stage === undefined && where.outputs === undefined) {
      throw new CommandError(
        'Say which stage: --stage … The local stack has its console already: npm start says where, http://localhost:3001 unless told otherwise',
      );
    }
    await work(where, (operation) => serve(operation, { port, readOnly, since }));
    // Ctrl-C is how it ends.
    process.exitCode = 0;
  });

async function serve({ stack, signal, say }: Operation, settings: Settings): Promise<void> {
  const { port, readOnly, since } = settings;
  const who = await caller(stack);
  const source = new StageSource(stack, since);
  try {
    const console = await startConsole({
      source,
      port,
      token: randomBytes(32).toString('base64url'),
      readOnly,
      local: undefined,
    }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error;
      throw new CommandError(`Port ${port} is in use. Stop what uses it, or choose another with --port`);
    });
    source.follow((notice) => console.news.notice(notice));
    say(`${stack.title}, as ${who}${readOnly ? ', read only' : ''}`);
    say('');
    say(`  Console   ${console.url}`);
    say('');
    say('Whoever has this address can do with the stage what you can. Ctrl-C ends it.');
    if (!signal.aborted) await once(signal, 'abort');
    await console.close();
  } finally {
    await source.close();
  }
}
