import { existsSync } from 'node:fs';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import * as z from 'zod/mini';
import { readSamples, sampleBody } from '../../events/samples.ts';
import { isEventName } from '../../lambda/contract/catalogue.ts';
import { WEBHOOK_PATH } from '../../lambda/contract/webhook-path.ts';
import { didYouMean } from '../../lib/nearest.ts';
import type { Trace } from '../stage/history/trace.ts';
import { OUTPUTS_FILE } from '../stage/local-folder.ts';
import type { FunctionName } from '../stage/logs/follow.ts';
import type { Operation } from '../stage/operation.ts';
import { answerText, parsedAnswer, postSigned } from '../stage/signed-post.ts';
import { forPeople, outputsOption, stageOption, work } from '../stage/work.ts';
import { npmScript } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { readBytes } from '../terminal/files.ts';
import { jsonOption, secretOption, wholeNumber } from '../terminal/options.ts';
import { shownId } from '../terminal/screen.ts';

const DEFAULT_URL = `http://localhost:3000${WEBHOOK_PATH}`;

/** They are made before the first is sent. */
const MOST_DELIVERIES = 100_000;

/** Seconds: an effect that takes longer is better traced later. */
const LONGEST_WAIT = 3_600;

/** What the receiver says of a delivery that it has taken. */
const acceptedSchema = z.object({ eventId: z.string(), requestId: z.string() });

/**
 * `npm run send -- <event>`: signs a sample and posts it, its `timestamp` set to now so that it is
 * newer than what was sent before. `--file` sends the bytes of a file as they are, `--again` those of a delivery.
 */
export const command = npmScript('send', 'Signs a sample event and posts it, its timestamp set to now.')
  .argument('[event]', 'such as shop.updated: events/ has a sample of each')
  .option('--file <file>', 'posts the bytes of a file instead of a sample')
  .option(
    '--again <id>',
    'posts the bytes of a delivery once more, signed with the current secret: its event, request or message id, or its webhookId, as npm run trace takes them',
  )
  .option(
    '--url <url>',
    'where to, such as localhost:3000; without it to the webhook of the stack that npm start runs',
    webhookUrl,
  )
  .addOption(secretOption())
  .option(
    '--count <n>',
    'deliveries; of a sample each is a millisecond newer than the one before',
    wholeNumber(1, MOST_DELIVERIES),
    1,
  )
  .addOption(
    new Option('--encoding <encoding>', 'of the signature')
      .choices(['hex', 'base64'])
      .default('hex' as const),
  )
  .option('--bad-signature', 'signs with another secret; 401 is then what is expected')
  .addOption(
    new Option(
      '--wait [seconds]',
      'until the effect, and prints the history as it grows; exit code 1 if there is none in time',
    )
      .argParser(wholeNumber(1, LONGEST_WAIT))
      .preset('30'),
  )
  .addOption(stageOption())
  .addOption(outputsOption())
  .addOption(jsonOption())
  .action(async (event, options, send) => {
    const { again, file, url, secret, count, encoding, badSignature, json, wait, ...where } = options;
    if (again !== undefined && (event !== undefined || file !== undefined || url !== undefined)) {
      throw new CommandError('--again sends a delivery of a stack: leave out the event, --file and --url');
    }
    const bodies =
      again !== undefined
        ? []
        : file === undefined
          ? sampleBodies(event, count)
          : fileBodies(file, event, count);
    const isSecretGiven = send.getOptionValueSource('secret') !== 'default';
    const namesStack = where.stage !== undefined || where.outputs !== undefined;
    if (url !== undefined && namesStack) throw new CommandError('Either --url or a stack, not both');
    if (url !== undefined && wait !== undefined) {
      throw new CommandError('--wait reads the logs of a stack: name it by --stage or --outputs, not --url');
    }
    const post = async (target: string, key: string, sent = bodies): Promise<Answer[]> => {
      const signing = { secret: badSignature ? `${key} but wrong` : key, encoding };
      const answers: Answer[] = [];
      for (const body of sent) {
        const { status, body: text } = await postSigned({ url: target, body, ...signing });
        const answer = { status, body: parsedAnswer(text) };
        if (!json) console.log(answerText(answer));
        else if (wait === undefined) console.log(JSON.stringify(answer));
        if (status !== (badSignature ? 401 : 200)) process.exitCode = 1;
        answers.push(answer);
      }
      return answers;
    };
    const { currentSecret } = await import('../stage/webhook-secret.ts');
    const isLocalRunning = existsSync(OUTPUTS_FILE);
    if (url !== undefined || !(namesStack || again !== undefined || wait !== undefined || isLocalRunning)) {
      const target = url ?? DEFAULT_URL;
      const { localStackAt } = await import('../stage/stage.ts');
      const stack = isSecretGiven ? undefined : localStackAt(new URL(target));
      try {
        await post(target, stack === undefined ? secret : await currentSecret(stack));
      } catch (error) {
        throw forPeople(error, true);
      } finally {
        stack?.close();
      }
      return;
    }
    await work(where, async (operation) => {
      const { stack } = operation;
      const key = isSecretGiven ? secret : await currentSecret(stack);
      const kept = again === undefined ? undefined : await payloadOf(operation, again, json === true);
      if (again !== undefined && kept === undefined) return false;
      const since = new Date();
      const answers = await post(
        stack.webhookUrl,
        key,
        kept && Array.from({ length: count }, () => kept.bytes),
      );
      if (wait === undefined) return true;
      const kind = event ?? kept?.event;
      const functions = kind !== undefined && isEventName(kind) ? ['receiver' as const, kind] : undefined;
      return awaitAnswers(operation, answers, { seconds: Number(wait), since, functions, json });
    });
  });

/** @returns undefined if it was interrupted @throws CommandError if the bytes are not kept */
async function payloadOf({ stack, signal, say, width }: Operation, id: string, json: boolean) {
  const { keptPayload } = await import('../stage/history/kept-payload.ts');
  const kept = await keptPayload(stack, id, signal);
  if (kept !== undefined && !json) {
    const { event = 'unknown kind', eventId, bytes, from } = kept;
    say(`Sending event ${shownId(eventId, width)} (${event}, ${bytes.length} bytes) again, from ${from}.`);
  }
  return kept;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** @returns false where a delivery has had no effect in time */
async function awaitAnswers(
  operation: Operation,
  answers: readonly Answer[],
  {
    json,
    ...options
  }: {
    readonly since: Date;
    readonly seconds: number;
    readonly functions: readonly FunctionName[] | undefined;
    readonly json: true | undefined;
  },
): Promise<boolean> {
  const accepted = answers.flatMap((answer) => {
    const ids = acceptedSchema.safeParse(answer.body);
    return answer.status === 200 && ids.success ? [{ ...ids.data, answer }] : [];
  });
  const awaited = new Set(accepted.map(({ answer }) => answer));
  const others = answers.filter((answer) => !awaited.has(answer));
  if (json) for (const answer of others) console.log(JSON.stringify(answer));
  if (accepted.length === 0) return true;
  let told = 0;
  const onTrace = (trace: Trace) => {
    console.log(JSON.stringify({ ...accepted[told]?.answer, trace }));
    told += 1;
  };
  const { awaitDeliveries } = await import('../stage/history/wait.ts');
  return awaitDeliveries(operation, accepted, { ...options, onTrace: json && onTrace });
}

function sampleBodies(event: string | undefined, count: number): Uint8Array[] {
  const samples = readSamples();
  const sample = samples.find((candidate) => candidate.event === event);
  if (sample === undefined) {
    const events = samples.map((candidate) => candidate.event);
    const choice = events.join(', ');
    throw new CommandError(
      event === undefined
        ? `Name one event: ${choice}`
        : `No event '${event}'.${didYouMean(event, events)} One of: ${choice}`,
    );
  }
  const now = Date.now();
  return Array.from({ length: count }, (_, index) => sampleBody(sample, new Date(now + index)));
}

function fileBodies(file: string, event: string | undefined, count: number): Uint8Array[] {
  if (event !== undefined) throw new CommandError('Either an event or --file, not both');
  const body = readBytes(file);
  return Array.from({ length: count }, () => body);
}

/**
 * Reads an address. Without a protocol it is `http://`, and a host alone gets the path of the webhook.
 * @throws InvalidArgumentError
 */
function webhookUrl(text: string): string {
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError(`It must be an address such as ${DEFAULT_URL}.`);
  }
  if (!text.includes('/')) url.pathname = WEBHOOK_PATH;
  return url.href;
}
