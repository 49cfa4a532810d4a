import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readSamples } from '../../events/samples.ts';
import { chooseSecret, OUTPUTS_FILE } from '../operate/settings.ts';
import { postSigned } from '../operate/signed-post.ts';
import { CommandError } from '../terminal/command-error.ts';

const DEFAULT_URL = 'http://localhost:3000/api/v1/webhooks/partner';

/**
 * `npm run send -- <event>`: signs a sample and posts it, its `timestamp` set to now so that it is
 * newer than what was sent before. `--file` sends the bytes of a file as they are.
 */
export async function run(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      url: { type: 'string' },
      secret: { type: 'string' },
      count: { type: 'string', default: '1' },
      'bad-signature': { type: 'boolean', default: false },
      encoding: { type: 'string', default: 'hex' },
      file: { type: 'string' },
    },
  });
  const { count: countText, encoding, file } = values;
  if (encoding !== 'hex' && encoding !== 'base64') {
    throw new CommandError(`--encoding must be hex or base64, not '${encoding}'`);
  }
  const count = Number(countText);
  if (!/^[1-9]\d*$/.test(countText)) {
    throw new CommandError(`--count must be a whole number from 1, not '${countText}'`);
  }
  const bodies = file === undefined ? sampleBodies(positionals, count) : repeat(readBody(file), count);
  const url = values.url ?? runningUrl() ?? DEFAULT_URL;
  const secret = chooseSecret(values.secret) + (values['bad-signature'] ? ' but wrong' : '');
  const expected = values['bad-signature'] ? 401 : 200;

  for (const body of bodies) {
    const answer = await postSigned({ url, body, secret, encoding });
    console.log(answer.status, answer.body);
    if (answer.status !== expected) process.exitCode = 1;
  }
}

function sampleBodies(positionals: string[], count: number): Uint8Array[] {
  const samples = readSamples();
  const [event, ...more] = positionals;
  const sample = samples.find((candidate) => candidate.event === event);
  if (sample === undefined || more.length > 0) {
    const choice = samples.map((candidate) => candidate.event).join(', ');
    throw new CommandError(
      event === undefined || more.length > 0
        ? `Name one event: ${choice}`
        : `No event '${event}'. One of: ${choice}`,
    );
  }
  const now = Date.now();
  return Array.from({ length: count }, (_, index) =>
    Buffer.from(JSON.stringify({ ...sample.payload, timestamp: new Date(now + index).toISOString() })),
  );
}

function readBody(file: string): Buffer {
  if (!existsSync(file)) throw new CommandError(`No file ${file}`);
  return readFileSync(file);
}

function repeat(body: Buffer, count: number): Buffer[] {
  return Array.from({ length: count }, () => body);
}

function runningUrl(): string | undefined {
  if (!existsSync(OUTPUTS_FILE)) return undefined;
  const [outputs] = Object.values(
    JSON.parse(readFileSync(OUTPUTS_FILE, 'utf8')) as Record<string, { WebhookUrl: string }>,
  );
  return outputs?.WebhookUrl;
}
