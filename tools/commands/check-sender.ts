import { once } from 'node:events';
import { Option } from '@commander-js/extra-typings';
import { WEBHOOK_PATH } from '../../lambda/receiver/request.ts';
import { parseSteps } from '../check-sender/answer-steps.ts';
import { Checker } from '../check-sender/checker.ts';
import { PLACEHOLDER } from '../check-sender/payload-findings.ts';
import { Tally, verdictText } from '../check-sender/report.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { systemErrorText, USAGE_ERROR } from '../terminal/command-error.ts';
import { nonEmptySecret, port, wholeNumber } from '../terminal/options.ts';
import { interruption, screenWidth } from '../terminal/terminal.ts';
import { counted } from '../terminal/text.ts';

const DEFAULT_PORT = 8080;
/** Maximum of `--timeout`, in seconds: a day. Timers of Node.js allow 24 days. */
const MAX_TIMEOUT = 24 * 60 * 60;
/** Exit code: a request was wrong, too few came, or a retry is missing. */
const WRONG = 1;

/**
 * Command that checks each incoming request and explains mistakes, until Ctrl-C. The command stores nothing, and prints
 * no sent data. Partners get the command as one file: `tools/check-sender/partner-kit.ts`.
 */
export const command = hookctlCommand(
  'check-sender',
  'For partners: listens for deliveries, checks each one, and names the likely mistake.',
)
  .option('--port <port>', 'port to listen on; 0 picks a free one', port, DEFAULT_PORT)
  .option('--host <address>', 'address to listen on, such as 0.0.0.0 (default: this machine only)')
  .addOption(
    new Option('--secret <secret>', 'required: secret that signs deliveries')
      .env('WEBHOOK_SECRET')
      .argParser(nonEmptySecret),
  )
  .option(
    '--play <steps>',
    'answers to the attempts of each delivery; the last one repeats: ok, 401, 429, 500, 502, 503, 504, retry-after (20 s), redirect, slow (35 s), cut (no answer)',
    parseSteps,
  )
  .option('--requests <n>', 'stop after this many requests (default: Ctrl-C)', wholeNumber(1))
  .option('--timeout <seconds>', 'stop after this time (default: never)', wholeNumber(1, MAX_TIMEOUT))
  .addHelpText('after', ({ command }) => {
    // The single file for partners has another name than `npx hookctl check-sender`.
    const typed = command.name().includes(' ') ? command.name() : `npx hookctl ${command.name()}`;
    return `
Examples:
  ${typed} --secret 'our shared secret'
  ${typed} --play 500,500,ok        # how does it repeat?
  ${typed} --play slow              # how long does it wait for an answer?
  ${typed} --requests 1 --timeout 60  # for CI

It stores nothing. Send to:
  http://localhost:${DEFAULT_PORT}${WEBHOOK_PATH}`;
  })
  .action(async ({ port, host, secret, play = [], requests, timeout }) => {
    if (secret === undefined) {
      usage('Set the secret that signs deliveries: --secret, or the variable WEBHOOK_SECRET');
    }
    const tally = new Tally();
    const done = new AbortController();
    interruption().addEventListener('abort', () => done.abort());
    const checker = await Checker.start({
      secret,
      port,
      host,
      steps: play,
      onVerdict: (verdict) => {
        if (tally.requests === requests) return;
        tally.add(verdict);
        const lines = verdictText(verdict, screenWidth());
        console.log((lines.length > 1 ? ['', ...lines] : lines).join('\n'));
        if (tally.requests === requests) done.abort();
      },
    }).catch((error: unknown) => usage(listenProblem(error, host)));
    console.error(welcome(checker.port, host, secret));
    if (timeout !== undefined) setTimeout(() => done.abort(), timeout * 1_000).unref();
    if (!done.signal.aborted) await once(done.signal, 'abort');
    const isComplete = requests === undefined || tally.requests === requests;
    const unrepeated = checker.deliveries.unrepeated();
    await checker.close();
    console.log(['', ...tally.text(unrepeated)].join('\n'));
    if (!isComplete) console.error(`Only ${tally.requests} of ${counted(requests, 'request')} arrived.`);
    process.exitCode = tally.isRight(unrepeated) && isComplete ? 0 : WRONG;
  });

const PASTED = 'The secret begins or ends with white space, which is used as part of it. Was it pasted?';
const NOT_REPLACED =
  'The secret looks like a variable that was not replaced, such as $WEBHOOK_SECRET. Check the quotation marks.';

function welcome(port: number, host = 'localhost', secret: string): string {
  return [
    'Ctrl-C ends the check. The real service accepts only https. Send to:',
    `  http://${host.includes(':') ? `[${host}]` : host}:${port}${WEBHOOK_PATH}`,
    ...(secret === secret.trim() ? [] : [PASTED]),
    ...(PLACEHOLDER.test(secret) ? [NOT_REPLACED] : []),
    ...(host === 'localhost' ? [] : ['Anyone who reaches this address can send to it. Nothing is stored.']),
  ].join('\n');
}

/** @throws the given error, if the user cannot fix it */
function listenProblem(error: unknown, host: string | undefined): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code)) {
    return `${JSON.stringify(host)} is not an address of this machine. Try --host 0.0.0.0`;
  }
  const text = systemErrorText(error as NodeJS.ErrnoException);
  if (text === undefined) throw error;
  return text;
}

/** Ends with another exit code than {@link WRONG}, so that CI can distinguish the two. */
function usage(line: string): never {
  console.error(line);
  process.exit(USAGE_ERROR);
}
