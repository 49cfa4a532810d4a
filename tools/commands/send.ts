import { existsSync } from 'node:fs';
import { Option } from '@commander-js/extra-typings';
import { readSamples } from '../../events/samples.ts';
import { WEBHOOK_PATH } from '../../lambda/contract/webhook-path.ts';
import { OUTPUTS_FILE } from '../operate/local-folder.ts';
import { postSigned } from '../operate/signed-post.ts';
import { npmScript } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { readBytes, readJson } from '../terminal/files.ts';
import { jsonOption, secretOption, wholeNumber } from '../terminal/options.ts';
import { shownId } from '../terminal/screen.ts';

const DEFAULT_URL = `http://localhost:3000${WEBHOOK_PATH}`;

/** They are made before the first is sent. */
const MOST_DELIVERIES = 100_000;

/**
 * `npm run send -- <event>`: signs a sample and posts it, its `timestamp` set to now so that it is
 * newer than what was sent before. `--file` sends the bytes of a file as they are.
 */
export const command = npmScript('send', 'Signs a sample event and posts it, its timestamp set to now.')
  .argument('[event]', 'such as shop.updated: each file of events/ is the sample of one')
  .option('--file <file>', 'posts the bytes of a file instead of a sample')
  .option('--url <url>', 'where to; without it to the webhook of the stack that npm start runs')
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
  .addOption(jsonOption())
  .action(
    async (
      event,
      { file, url = runningUrl() ?? DEFAULT_URL, secret, count, encoding, badSignature, json },
    ) => {
      const bodies = file === undefined ? sampleBodies(event, count) : fileBodies(file, event, count);
      const key = badSignature ? `${secret} but wrong` : secret;
      const expected = badSignature ? 401 : 200;
      for (const body of bodies) {
        const answer = await postSigned({ url, body, secret: key, encoding });
        console.log(
          json ? JSON.stringify({ status: answer.status, body: parsed(answer.body) }) : describe(answer),
        );
        if (answer.status !== expected) process.exitCode = 1;
      }
    },
  );

function sampleBodies(event: string | undefined, count: number): Uint8Array[] {
  const samples = readSamples();
  const sample = samples.find((candidate) => candidate.event === event);
  if (sample === undefined) {
    const choice = samples.map((candidate) => candidate.event).join(', ');
    throw new CommandError(
      event === undefined ? `Name one event: ${choice}` : `No event '${event}'. One of: ${choice}`,
    );
  }
  const now = Date.now();
  return Array.from({ length: count }, (_, index) =>
    Buffer.from(JSON.stringify({ ...sample.payload, timestamp: new Date(now + index).toISOString() })),
  );
}

function fileBodies(file: string, event: string | undefined, count: number): Uint8Array[] {
  if (event !== undefined) throw new CommandError('Either an event or --file, not both');
  const body = readBytes(file);
  return Array.from({ length: count }, () => body);
}

function runningUrl(): string | undefined {
  if (!existsSync(OUTPUTS_FILE)) return undefined;
  const [outputs] = Object.values(readJson(OUTPUTS_FILE) as Record<string, { WebhookUrl: string }>);
  return outputs?.WebhookUrl;
}

/** `200 queued  event 1a2b3c4d  request JKJaXmPL`; of an error what the answer says. */
function describe({ status, body }: { status: number; body: string }): string {
  const answer = parsed(body);
  if (typeof answer !== 'object' || answer === null) return `${status} ${body}`;
  const { status: word, detail, message, eventId, requestId } = answer as Record<string, unknown>;
  return [
    `${status} ${typeof word === 'string' ? word : (detail ?? message ?? '')}`,
    ...(eventId === undefined ? [] : [`event ${shownId(String(eventId))}`]),
    ...(requestId === undefined ? [] : [`request ${shownId(String(requestId))}`]),
  ].join('  ');
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
