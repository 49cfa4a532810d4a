/**
 * Posts distinct signed bodies in a closed loop on each connection. Runs in a separate process, so that its processor
 * time does not count as the stack's. Standard input is a {@link Posting}, standard output a {@link Posted}, both in
 * JSON.
 */
import { Agent, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { readSamples, type Sample } from '../../../events/samples.ts';
import { signatureOf } from '../../../events/signing.ts';

export interface Posting {
  readonly url: string;
  readonly secret: string;
  readonly connections: number;
  /** Answers in this time do not count in the rate: code is compiled, and environments start. */
  readonly warmUpMilliseconds: number;
  /** Measured time, after the warm-up. */
  readonly milliseconds: number;
  /** Bodies that are signed ahead. Further ones are signed when they are sent. */
  readonly bodies: number;
}

export interface Posted {
  /** Number of 200 answers by kind of event, including the warm-up. */
  readonly accepted: Readonly<Record<string, number>>;
  /** Other answers by status. */
  readonly others: Readonly<Record<string, number>>;
  /** 200 answers a second, for each half second after the warm-up. */
  readonly rates: readonly number[];
}

/** Milliseconds for which a rate is counted. */
const INTERVAL = 500;

interface Delivery {
  readonly event: string;
  readonly body: Buffer;
  readonly signature: string;
}

async function post(posting: Posting): Promise<Posted> {
  const { url, secret, connections, warmUpMilliseconds, milliseconds, bodies } = posting;
  const samples = readSamples();
  const signed = (index: number) => signedBody(index, samples[index % samples.length], secret);
  const ahead = Array.from({ length: bodies }, (_, index) => signed(index));
  let sent = 0;
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const accepted: Record<string, number> = {};
  const others: Record<string, number> = {};
  const begin = performance.now() + warmUpMilliseconds;
  const counts: number[] = Array(Math.floor(milliseconds / INTERVAL)).fill(0);

  async function loop(): Promise<void> {
    while (performance.now() < begin + milliseconds) {
      const delivery = ahead[sent] ?? signed(sent);
      sent += 1;
      const status = await send(url, delivery, agent);
      if (status !== 200) {
        others[status] = (others[status] ?? 0) + 1;
        continue;
      }
      accepted[delivery.event] = (accepted[delivery.event] ?? 0) + 1;
      const interval = Math.floor((performance.now() - begin) / INTERVAL);
      if (counts[interval] !== undefined) counts[interval] += 1;
    }
  }

  await Promise.all(Array.from({ length: connections }, loop));
  agent.destroy();
  return { accepted, others, rates: counts.map((count) => (count * 1000) / INTERVAL) };
}

/** Each body is about another shop, girl and user. */
function signedBody(index: number, sample: Sample | undefined, secret: string): Delivery {
  const { event = '', payload } = sample ?? {};
  const ids = { shop_id: `shop-${index}`, girl_id: `girl-${index}`, user_id: `user-${index}` };
  const data = { ...(payload?.data as object), ...ids };
  const body = Buffer.from(JSON.stringify({ ...payload, data, timestamp: new Date().toISOString() }));
  return { event, body, signature: signatureOf({ body, secret }) };
}

function send(url: string, { body, signature }: Delivery, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      'x-webhook-signature': signature,
    };
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.once('error', reject).end(body);
  });
}

console.log(JSON.stringify(await post((await json(process.stdin)) as Posting)));
