import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { isLocalSecret, LOCAL_SECRET } from '../../events/signing.ts';
import { inspectedFunction } from '../start/inspected-functions.ts';
import { assertPorts } from '../start/ports.ts';
import { runStack } from '../start/run-stack.ts';
import { endWithNpm, runNextStacks } from '../start/stack-process.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { CommandError, UsageError } from '../terminal/command-error.ts';
import { gatewayOption, portOption, secretOption } from '../terminal/options.ts';

export const command = hookctlCommand(
  'start',
  'Runs the local stack and its console until Ctrl-C. Then all state is lost.',
)
  .addOption(portOption('--port <port>', 'port of the webhook', 'PORT', 3000))
  .addOption(portOption('--aws-port <port>', 'port of the AWS endpoint', 'AWS_PORT', 4566))
  .addOption(portOption('--console-port <port>', 'port of the console', 'CONSOLE_PORT', 3001))
  .addOption(secretOption())
  .addOption(gatewayOption())
  .option(
    '--public-host <name>',
    'let a tunnel with this host name reach the webhook; needs your own --secret; repeatable',
    publicHost,
  )
  .option('--retry-fast', 'retry after seconds: a message becomes a dead letter after about 10 s, not 3 h')
  .option(
    '--inspect <function[:port]>',
    'open a debugger port, from 9229 on, for receiver or the consumer of an event',
    inspectedFunction,
  )
  .option('--no-watch', 'ignore code that you save while it runs')
  .action(
    async ({ inspect: inspected = [], publicHost: publicHosts = [], retryFast = false, ...settings }) => {
      const { secret, port, awsPort, consolePort } = settings;
      if (publicHosts.length > 0 && isLocalSecret(secret)) {
        throw new UsageError(
          `--public-host makes the webhook public. Set your own --secret: ${LOCAL_SECRET} is known to everybody`,
        );
      }
      assertOpenFiles();
      await assertPorts([
        { option: 'port', port },
        { option: 'aws-port', port: awsPort },
        { option: 'console-port', port: consolePort },
        ...inspected.map(({ name, port }) => ({ option: `inspect ${name}:<port>`, port })),
      ]);
      await endWithNpm();
      const { pageCommands: commands } = await import('./page-commands.ts');
      const options = await runStack({ ...settings, inspected, publicHosts, retryFast, commands });
      if (options !== undefined) process.exitCode = await runNextStacks(options);
    },
  );

/** Files and connections that a busy stack opens: 180, on 2026-11-28. The default limit of Linux is 1,024. */
const MIN_OPEN_FILES = 256;

/** @throws CommandError if this process may open too few files. With fewer, functions fail one after the other */
function assertOpenFiles(): void {
  if (process.platform !== 'linux') return;
  const [, limit = ''] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  if (limit !== '' && Number(limit) < MIN_OPEN_FILES)
    throw new CommandError(`Only ${limit} open files are allowed. Raise the limit: ulimit -n 1024`);
}

/**
 * A host name of at least two labels of letters, digits and hyphens (RFC 1123 §2.1). A name with one label is
 * not public.
 */
const HOST_NAME = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** Maximum characters of a host name. Source: RFC 1035 §2.3.4. */
const MAX_HOST_NAME = 253;

/**
 * Parses a value of the option for host names of tunnels, and adds the name to the earlier names.
 * @throws InvalidArgumentError; the command prints its message as one line
 */
function publicHost(text: string, before: readonly string[] = []): readonly string[] {
  const name = text.toLowerCase();
  const isName = HOST_NAME.test(name) && name.length <= MAX_HOST_NAME;
  if (isName || isIP(name) === 4) return [...before, name];
  throw new InvalidArgumentError(
    'It must be the name alone, such as abc.trycloudflare.com: no https://, no port, no path.',
  );
}
