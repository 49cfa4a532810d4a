import { existsSync } from 'node:fs';
import type { FunctionDefinition, FunctionLogLine } from 'local-aws/invocation';
import { LocalFunction } from 'local-aws/local-function';
import { readSamples, sqsEvent } from '../../events/samples.ts';
import { LOCAL_SECRET } from '../../events/signing.ts';
import { type EventName, eventNames, isEventName } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { RETRY_NOT_DELAYED } from '../../lambda/log-messages.ts';
import { didYouMean } from '../../lib/did-you-mean.ts';
import { FUNCTIONS_FILE, NOT_RUNNING } from '../stage/local-folder.ts';
import { receiverEvent } from '../stage/signed-post.ts';
import { LogFormat } from '../start/log-format.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { CommandError, UsageError } from '../terminal/command-error.ts';
import { readJson, typedPath } from '../terminal/files.ts';

/**
 * Command that runs one handler in this process, with the environment and permissions that it has in the
 * running local stack, and prints its result.
 */
export const command = hookctlCommand(
  'invoke',
  'Runs one function of the local stack, with its environment and permissions, and prints the result.',
)
  .argument('<function>', 'receiver, smoke-test, or an event such as shop.updated for its consumer')
  .argument('[event]', 'file with a Lambda event, or the event of a sample (default for a consumer: its own)')
  .addHelpText(
    'after',
    `
Examples:
  npx hookctl invoke shop.updated
  npx hookctl invoke receiver shop.updated
  npx hookctl invoke receiver my-event.json`,
  )
  .action(async (name, event) => {
    const definition = definitionOf(name);
    const payload = eventFor(name, event);
    // A stack that was killed leaves its files.
    await fetch(definition.awsEndpointUrl).catch(() => {
      throw new CommandError(NOT_RUNNING);
    });
    const handler = new LocalFunction(definition, print);
    try {
      const { requestId, durationMilliseconds, ...result } = await handler.invoke(payload);
      console.log(JSON.stringify(result.ok ? result.payload : result, undefined, 2));
      console.error(`${requestId}: ${Math.round(durationMilliseconds)} ms`);
      if (!result.ok) process.exitCode = 1;
    } finally {
      await handler.close();
    }
  });

function definitionOf(name: string): FunctionDefinition {
  if (!existsSync(FUNCTIONS_FILE)) throw new CommandError(NOT_RUNNING);
  const definitions = readJson(FUNCTIONS_FILE) as Record<string, FunctionDefinition>;
  const key = isEventName(name) ? kebabCase(name) : name;
  const definition = Object.hasOwn(definitions, key) ? definitions[key] : undefined;
  if (definition !== undefined) return definition;
  const events = new Map<string, string>(eventNames.map((event) => [kebabCase(event), event]));
  const choice = Object.keys(definitions).map((service) => events.get(service) ?? service);
  throw new UsageError(`No function '${name}'.${didYouMean(name, choice)} One of: ${choice.join(', ')}`);
}

/** @throws CommandError if the user named neither an event nor a file */
function eventFor(name: string, event: string | undefined): unknown {
  const consumer = eventNames.find((known) => name === known || name === kebabCase(known));
  if (event === undefined && consumer === undefined) {
    throw new UsageError(`Which event for ${name}? A file, or one of: ${eventNames.join(', ')}`);
  }
  const sample = event ?? consumer ?? '';
  if (!isEventName(sample)) {
    const meant = didYouMean(sample, eventNames);
    if (meant !== '' && !existsSync(typedPath(sample)))
      throw new UsageError(`No file or event ${sample}.${meant}`);
    return readJson(typedPath(sample));
  }
  return sampleInvocation(sample, name === 'receiver');
}

/**
 * The sample of an event as its consumer gets it from the queue, or as the receiver gets it from an HTTP API, signed
 * with the local secret.
 */
function sampleInvocation(event: EventName, isForReceiver: boolean): object {
  const sample = readSamples().find((one) => one.event === event);
  if (sample === undefined) throw new Error(`events/ has no sample of ${event}`);
  if (!isForReceiver) return sqsEvent(sample);
  const body = JSON.stringify(sample.payload);
  return receiverEvent(body, LOCAL_SECRET, new Date(String(sample.payload.timestamp)));
}

const format = new LogFormat(process.stderr);

/**
 * Prints a log line to standard error, because standard output is for the result. A retry cannot be delayed, because
 * the sample is not on a queue. This error, with its stack, would look like the reason of the failure.
 */
function print(line: FunctionLogLine): void {
  if (line.text.includes(`"message":"${RETRY_NOT_DELAYED}"`)) return;
  const text = format.logLine(line);
  if (text !== undefined) console.error(text);
}
