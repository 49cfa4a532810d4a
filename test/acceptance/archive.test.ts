import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ArchiveBucket, type ArchivedRecord } from '../support/archive.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, eventIdOf } from '../support/partner.ts';
import { Deployment } from './deployment.ts';
import { minutesAgo, ofThisRun, readTarget, variable } from './target.ts';

const { outputs } = readTarget(process.env[variable.outputs] ?? '');

/** Milliseconds that a delivery stream may take to write an object, in addition to its buffering time. */
const DELIVERY_MS = 120_000;

/** Buffering time of the delivery streams, in milliseconds. */
const BUFFER_MS = 900_000;

const HOUR_MS = 3_600_000;

const timestamp = minutesAgo(2);
const shop_id = ofThisRun('archived');
const small = JSON.stringify({ event: 'shop.updated', data: { shop_id, name: '“日本” \\ 😀' }, timestamp });
const large = JSON.stringify({
  event: 'shop.updated',
  data: { shop_id: ofThisRun('archived-large'), notes: 'x'.repeat(1_200_000) },
  timestamp,
});

let deployment: Deployment;
let postedAt: number;
let answers: Answer[];
beforeAll(async () => {
  deployment = await Deployment.connect();
  postedAt = Date.now();
  // Sent together, so that the test waits for the stream's buffering only once.
  answers = await Promise.all([small, large].map((body) => deployment.post(body)));
});
afterAll(() => deployment?.cleanUp());

/** How long a record may take, in milliseconds. Outside AWS, streams do not wait for more records. */
const LONGEST_WAIT_MS =
  process.env.AWS_ENDPOINT_URL === undefined
    ? BUFFER_MS + DELIVERY_MS
    : Number(process.env[variable.wait]) * 1000;

/** Prefixes of the hours from the posts until now. */
function partitions(): string[] {
  const prefixes = new Set<string>();
  for (let time = postedAt; time < Date.now() + HOUR_MS; time += HOUR_MS) {
    const text = new Date(Math.min(time, Date.now())).toISOString();
    prefixes.add(`event=shop.updated/date=${text.slice(0, 10)}/hour=${text.slice(11, 13)}/`);
  }
  return [...prefixes];
}

/** Waits for the record of a delivery, and reads it with read access to the bucket only. */
async function recordOf({ body: { requestId } }: Answer): Promise<ArchivedRecord> {
  const isElsewhere = process.env.AWS_ENDPOINT_URL !== undefined;
  const archive = new ArchiveBucket(outputs.ArchiveBucket, { forcePathStyle: isElsewhere });
  return eventually(
    async () => {
      const records = await Promise.all(partitions().map((prefix) => archive.records(prefix)));
      return records.flat().find((record) => record.requestId === requestId);
    },
    { limit: LONGEST_WAIT_MS, interval: isElsewhere ? 200 : 10_000 },
  );
}

const commonFields = (body: string) => ({
  eventId: eventIdOf(body),
  event: 'shop.updated',
  timestamp: timestamp.replace('Z', '000000Z'),
  receivedAt: expect.any(String),
  settledAt: expect.any(String),
  outcome: 'Processed',
  attempt: expect.any(Number),
});

const LIMIT = 2 * (BUFFER_MS + DELIVERY_MS + HOUR_MS / 60);

// A stage may keep no archive.
(outputs.ArchiveBucket === undefined ? describe.skip : describe)('the archive', () => {
  test(
    'has the outcome of a delivery, with the partner’s text, or refers to a payload that is too large',
    async () => {
      const record = await recordOf(answers[0] as Answer);
      expect(record).toMatchObject({ ...commonFields(small), shopId: shop_id, body: small });
      expect(record.receivedAt <= record.settledAt).toBe(true);
      const ofLarge = await recordOf(answers[1] as Answer);
      expect(ofLarge).toMatchObject(commonFields(large));
      expect(ofLarge).not.toHaveProperty('body');
      expect((await deployment.payload(ofLarge.payloadKey)) === large).toBe(true);
    },
    LIMIT,
  );
});
