import { buffer } from 'node:stream/consumers';
import { Option } from '@commander-js/extra-typings';
import * as z from 'zod/mini';
import { readSamples, sampleBody } from '../../events/samples.ts';
import { pascalCase } from '../../lambda/events/event-names.ts';
import { SECRET_REFRESH_INTERVAL } from '../../lambda/limits.ts';
import { didYouMean } from '../../lib/did-you-mean.ts';
import type { Trace } from '../stage/history/trace.ts';
import { type Operation, onStage, orRefusal, type RunOperation, runOperation } from '../stage/operation.ts';
import { answerText, postSigned } from '../stage/signed-post.ts';
import type { Stage } from '../stage/stage.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { CommandError, UsageError } from '../terminal/command-error.ts';
import { readBytes, STANDARD_INPUT, typedPath } from '../terminal/files.ts';
import { jsonOption, secretOption, wholeNumber } from '../terminal/options.ts';
import { shownId } from '../terminal/terminal.ts';
import { duration } from '../terminal/text.ts';

/** Seconds that `--wait` without a number waits. */
const DEFAULT_WAIT_SECONDS = 30;

/** Maximum seconds of `--wait`. Slower effects can be traced later. */
const MAX_WAIT_SECONDS = 3_600;

const acceptedSchema = z.object({ eventId: z.string(), requestId: z.string() });

/**
 * Makes the command that signs a sample and posts it. The sample's `timestamp` is set to now, so that it is
 * newer than earlier events. `--file` sends the bytes of a file unchanged, `--again` those of an earlier
 * delivery.
 */
export const sendCommand = (runOperation: RunOperation) =>
  onStage(hookctlCommand('send', 'Signs a sample event and posts it. The timestamp is set to now.'))
    .argument('[event]', 'event to send, such as shop.updated; samples are in events/')
    .option('--file <file>', 'post a file instead of a sample; - is standard input', typedPath)
    .addOption(
      new Option(
        '--again <id>',
        'post an earlier delivery again, signed with the current secret; takes the same ids as trace',
      ).conflicts('file'),
    )
    .addOption(secretOption('the secret of the stack'))
    .addOption(
      new Option(
        '--wait [seconds]',
        `wait for the effect (default: ${DEFAULT_WAIT_SECONDS}), and print the history; exit code 1 on timeout`,
      ).argParser(wholeNumber(1, MAX_WAIT_SECONDS)),
    )
    .addOption(jsonOption())
    .action(async (event, options, send) => {
      const { again, file } = options;
      if (event !== undefined && (again ?? file) !== undefined) {
        throw new UsageError('Give one of: an event, --file or --again');
      }
      const given = again === undefined && file !== STANDARD_INPUT ? bodyOf(file, event) : undefined;
      const isDefaultSecret = send.getOptionValueSource('secret') === 'default';
      await runOperation(options, async (operation) => {
        if (event !== undefined) requireDeployed(operation.stack, event);
        const body =
          again === undefined
            ? (given ?? operation.input ?? (await buffer(process.stdin)))
            : await earlierBody(operation, again, options);
        if (body === undefined) return false;
        const secret = await keyOf(operation, isDefaultSecret, options.secret);
        return sendOne(operation, body, { ...options, secret });
      });
    });

export const command = sendCommand(runOperation);

interface SendOptions {
  readonly secret: string;
  /** Seconds to wait; true for the default. */
  readonly wait?: number | true | undefined;
  readonly json?: true | undefined;
}

/** @returns whether the answer was 200 and, with `wait`, the delivery was processed in time */
async function sendOne(
  operation: Operation,
  bytes: Uint8Array,
  { secret, json, wait }: SendOptions,
): Promise<boolean> {
  const { stack, signal, onPosted, printLine } = operation;
  const since = new Date();
  const posted = await postSigned({ url: stack.webhookUrl, body: bytes, secret, signal });
  onPosted?.(posted);
  const { status, body } = posted;
  const answer = { status, body };
  const accepted = status === 200 && wait !== undefined ? acceptedSchema.safeParse(body).data : undefined;
  if (!json) printLine(answerText(answer));
  else if (accepted === undefined) printLine(JSON.stringify(answer));
  const hints = status === 401 && !json ? await hintsAfterRotation(stack) : [];
  for (const line of hints) printLine(line);
  if (accepted === undefined) return status === 200;
  const seconds = wait === undefined || wait === true ? DEFAULT_WAIT_SECONDS : wait;
  const { awaitDelivery } = await import('../stage/history/trace.ts');
  const trace = await awaitDelivery(stack, accepted, { since, seconds, signal });
  if (trace === undefined) return false;
  if (json) printLine(JSON.stringify({ ...answer, trace }));
  else await printHistory(operation, trace, seconds);
  return trace.history.now[0].state === 'processed' || trace.history.now[0].state === 'skipped';
}

async function printHistory({ stack, width, printLine }: Operation, trace: Trace, seconds: number) {
  const { describeTrace } = await import('../stage/history/print-trace.ts');
  const { hasSettled } = await import('../stage/history/derive-history.ts');
  const late = hasSettled(trace.history) ? [] : [`It has not settled after ${seconds} s.`];
  for (const line of ['', ...describeTrace(trace, stack, width), ...late]) printLine(line);
}

/**
 * Milliseconds after a rotation of the secret in which the rotation may cause a 401: the receiver's refresh interval
 * twice, because clocks differ.
 */
const AFTER_ROTATION = 2 * SECRET_REFRESH_INTERVAL;

/** Lines that explain a refused signature, if the secret of the stack was rotated just before. */
async function hintsAfterRotation(stack: Stage): Promise<string[]> {
  const { secretVersion } = await import('../stage/secret-versions.ts');
  const changed = await orRefusal(stack, async () => ({ at: (await secretVersion(stack))?.createdAt }));
  const age = 'at' in changed && changed.at ? Date.now() - changed.at.getTime() : AFTER_ROTATION;
  if (age >= AFTER_ROTATION) return [];
  return [
    `The secret was changed ${duration(age)} ago.`,
    `A running receiver may answer 401 to the new secret for up to ${SECRET_REFRESH_INTERVAL / 1000} s. Send it again then.`,
  ];
}

/** @throws CommandError if the stack does not know the event yet, and would park the delivery */
function requireDeployed({ outputs, title, commandSuffix }: Stage, event: string): void {
  if (outputs[`${pascalCase(event)}QueueUrl`] !== undefined) return;
  const next =
    commandSuffix === ''
      ? 'Restart the stack: in its terminal, type r and press Enter. Then send it again'
      : 'Deploy the stack. Then send it again';
  throw new CommandError(`${event} is not deployed yet in ${title}. ${next}`);
}

/**
 * What to send: the bytes of a file, or a sample whose timestamp is now.
 * @throws CommandError if the file cannot be read or the event is unknown
 */
function bodyOf(file: string | undefined, event: string | undefined): Uint8Array {
  if (file !== undefined) return readBytes(file);
  const samples = readSamples();
  const sample = samples.find((candidate) => candidate.event === event);
  if (sample === undefined) {
    const events = samples.map((candidate) => candidate.event);
    const choice = events.join(', ');
    throw new UsageError(
      event === undefined
        ? `Name one event: ${choice}`
        : `No event '${event}'.${didYouMean(event, events)} One of: ${choice}`,
    );
  }
  return sampleBody(sample, new Date());
}

/**
 * The bytes of an earlier delivery, from the console that runs the command, or from the stack.
 * @returns undefined if the search was interrupted
 * @throws CommandError if the bytes are not stored
 */
async function earlierBody(
  { stack, signal, printLine, width, recorded }: Operation,
  id: string,
  { json }: SendOptions,
): Promise<Uint8Array | undefined> {
  const known = await recorded?.(id);
  if (known !== undefined) {
    if (!json) printLine(`Sending request ${shownId(id, width)} (${known.length} bytes) again.`);
    return known;
  }
  const { findPayload } = await import('../stage/history/find-facts.ts');
  const found = await findPayload(stack, id, signal);
  if (found === undefined) return undefined;
  const { event, eventId, bytes, from } = found;
  if (!json) {
    const what = `${event ?? 'unknown kind'}, ${bytes.length} bytes`;
    printLine(`Sending event ${shownId(eventId, width)} (${what}) again, from ${from}.`);
  }
  return bytes;
}

/** The secret that signs deliveries: the option `--secret`, or the stack's secret if the user can read it. */
async function keyOf({ stack }: Operation, isDefault: boolean, secret: string): Promise<string> {
  if (!isDefault) return secret;
  const { currentSecret } = await import('../stage/secret-versions.ts');
  return currentSecret(stack);
}
