import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { invalidationPaths, readPathPatterns } from '../../../lambda/effects/distribution.ts';
import type { Replay } from '../../../lambda/queue/replay.ts';
import { functionEnvironment } from '../../support/function-environment.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';
import { type HttpRecorder, type RecorderAnswer, startHttpRecorder } from '../http-recorder.ts';

const patterns = ['/shops/{shop_id}', '/shops/{shop_id}/*'];

describe('a distribution', () => {
  const created: RecorderAnswer = {
    status: 201,
    headers: { 'content-type': 'text/xml' },
    body: '<Invalidation xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/"><Id>I1</Id><Status>InProgress</Status></Invalidation>',
  };
  const refused = (status: number, code: string): RecorderAnswer => ({
    status,
    headers: { 'content-type': 'text/xml' },
    body: `<ErrorResponse xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/"><Error><Type>Sender</Type><Code>${code}</Code><Message>No.</Message></Error><RequestId>r</RequestId></ErrorResponse>`,
  });

  let aws: TestAws;
  let cloudFront: HttpRecorder;
  let answers: RecorderAnswer[];
  let shopInvalidator: typeof import('../../../lambda/effects/shop-cache.ts').shopInvalidator;
  beforeAll(async () => {
    aws = await startTestAws();
    Object.assign(process.env, functionEnvironment('shop-updated', aws));
    ({ shopInvalidator } = await import('../../../lambda/effects/shop-cache.ts'));
  });
  afterAll(() => aws.close());
  beforeEach(async () => {
    answers = [];
    cloudFront = await startHttpRecorder(() => answers.shift() ?? created);
    process.env.AWS_ENDPOINT_URL_CLOUDFRONT = cloudFront.url;
    Object.assign(process.env, { DISTRIBUTION_ID: 'E1', INVALIDATION_PATHS: JSON.stringify(patterns) });
    jest.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await cloudFront.close();
  });

  interface Event {
    readonly shopId: string;
    readonly version: string;
    readonly replay?: Replay;
  }

  /**
   * Processes an event that invalidates the shop. The event's id is its version. @returns the outcome, or the error’s
   * name
   */
  async function invalidate({ replay, ...event }: Event): Promise<string> {
    const update = {
      ...event,
      replay,
      eventId: `event-${event.version}`,
      receivedAt: '2026-01-31T09:00:00.000Z',
    };
    const invalidateShop = await shopInvalidator();
    return invalidateShop(update).catch(({ name }: Error) => name);
  }

  const references = () =>
    cloudFront.requests.map(({ body }) => /<CallerReference>(.*)<\/CallerReference>/.exec(body)?.[1]);

  test('is invalidated after the cache', async () => {
    expect(await invalidate({ shopId: 'shop 1', version: '1' })).toBe('Processed');
    expect(cloudFront.requests).toEqual([
      expect.objectContaining({
        method: 'POST',
        path: '/2020-05-31/distribution/E1/invalidation',
        body: expect.stringMatching(
          /<Quantity>2<\/Quantity><Items><Path>\/shops\/shop%201<\/Path><Path>\/shops\/shop%201\/\*<\/Path><\/Items>/,
        ),
      }),
    ]);
    expect(references()).toEqual(['event-1']);
  });

  test('gets the same invalidation for a repeated event, or after a newer one', async () => {
    const shopId = 'again';
    const outcomes = [];
    for (const version of ['2', '2', '1']) outcomes.push(await invalidate({ shopId, version }));
    expect(outcomes).toEqual(['Processed', 'Duplicate', 'Stale']);
    expect(references()).toEqual(['event-2', 'event-2', 'event-1']);
  });

  test('gets another invalidation for each name of a repair that wrote; a fill counts as a delivery', async () => {
    const shopId = 'repaired';
    const repair: Replay = { name: 'repair-1', mode: 'repair', notify: false };
    await invalidate({ shopId, version: '2' });
    for (const version of ['2', '1']) await invalidate({ shopId, version, replay: repair });
    await invalidate({ shopId, version: '1', replay: { ...repair, mode: 'fill' } });
    expect(references()).toEqual(['event-2', 'event-2-repair-1', 'event-1']);
  });

  test.each([
    { code: 'TooManyInvalidationsInProgress', status: 400 },
    { code: 'NoSuchDistribution', status: 404 },
  ])('that answers $code is an error, after the cache was invalidated', async ({ code, status }) => {
    answers = [refused(status, code)];
    expect(await invalidate({ shopId: code, version: '1' })).toBe(code);
    expect(await invalidate({ shopId: code, version: '1' })).toBe('Duplicate');
    expect(references()).toEqual(['event-1', 'event-1']);
  });

  test.each([
    { code: 'Throttling', reason: 'because the client tries again' },
    { code: 'InvalidationBatchAlreadyExists', reason: 'because the paths were changed after the event' },
  ])('that answers $code is no error, $reason', async ({ code }) => {
    answers = [refused(400, code)];
    expect(await invalidate({ shopId: code, version: '1' })).toBe('Processed');
  });

  test('that is not configured gets no request', async () => {
    Object.assign(process.env, { DISTRIBUTION_ID: '', INVALIDATION_PATHS: '' });
    expect(await invalidate({ shopId: 'unnamed', version: '1' })).toBe('Processed');
    expect(cloudFront.requests).toEqual([]);
  });

  test.each([
    { id: 'E1', paths: '', expected: 'Missing environment variables: INVALIDATION_PATHS' },
    { id: '', paths: '["/shops"]', expected: 'Missing environment variables: DISTRIBUTION_ID' },
    { id: 'E1', paths: '["shops"]', expected: 'INVALIDATION_PATHS must be' },
  ])('that is incompletely configured is an error at the start of the function: $expected', async (given) => {
    Object.assign(process.env, { DISTRIBUTION_ID: given.id, INVALIDATION_PATHS: given.paths });
    await expect(shopInvalidator()).rejects.toThrow(given.expected);
  });
});

test.each([
  ['with a slash and a space', 'a/b c', ['/shops/a%2Fb%20c', '/shops/a%2Fb%20c/*']],
  ['with a percent sign', '%2F', ['/shops/%252F', '/shops/%252F/*']],
])('a shop id that is %s is percent-encoded', (_, shopId, paths) => {
  expect(invalidationPaths(patterns, shopId)).toEqual(paths);
});

test('a shop id with characters that a path need not encode is covered in both forms', () => {
  expect(invalidationPaths(patterns, ':@$&+,;= ')).toEqual([
    '/shops/%3A%40%24%26%2B%2C%3B%3D%20',
    '/shops/:@$&+,;=%20',
    '/shops/%3A%40%24%26%2B%2C%3B%3D%20/*',
    '/shops/:@$&+,;=%20/*',
  ]);
});

test.each([
  ['a wildcard of its own', 'a*b', '/shops/a*'],
  ['a tilde, which CloudFront refuses', 'a~b', '/shops/a*'],
  ['a wildcard before a character with two forms', 'a*:', '/shops/a*'],
])('a shop id with %s is covered by one wildcard at the end', (_, shopId, path) => {
  expect(invalidationPaths(patterns, shopId)).toEqual([path]);
});

test('a path of 4,000 characters is used, a longer one is covered by a wildcard', () => {
  const maxIdLength = 4000 - '/shops/'.length;
  const [fits] = invalidationPaths(['/shops/{shop_id}'], 'x'.repeat(maxIdLength));
  expect(fits).toBe(`/shops/${'x'.repeat(maxIdLength)}`);
  const [tooLong] = invalidationPaths(['/shops/{shop_id}'], 'x'.repeat(maxIdLength + 1));
  expect(tooLong).toBe(`/shops/${'x'.repeat(maxIdLength - 1)}*`);
});

test('CloudFront gets valid paths that cover the shop, for every shop', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 2000 }), (shopId) => {
      const encoded = `/shops/${encodeURIComponent(shopId)}`;
      const plain = encoded.replace(/%(24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent);
      const paths = invalidationPaths(patterns, shopId);
      for (const path of paths) {
        expect(path.length).toBeLessThanOrEqual(4000);
        expect(path).toMatch(/^\/(?:[^*~%]|%[0-9A-F]{2})*\*?$/);
      }
      for (const own of [encoded, plain]) {
        expect(
          paths.some((path) => (path.endsWith('*') ? own.startsWith(path.slice(0, -1)) : own === path)),
        ).toBe(true);
      }
    }),
  );
});

describe('the configuration', () => {
  test('is a JSON array of paths', () => {
    expect(readPathPatterns(JSON.stringify(patterns))).toEqual(patterns);
  });

  test.each([
    ['no JSON', '/shops/{shop_id}'],
    ['no array', '"/shops/{shop_id}"'],
    ['empty', '[]'],
    ['of something else', '[1]'],
    ['of a path without its slash', '["shops/{shop_id}"]'],
    ['of a path without its slash behind good ones', '["/a", "/b", "shops/{shop_id}"]'],
    ['of a path that is not percent-encoded', '["/店/{shop_id}"]'],
    ['of a path that is too long', JSON.stringify([`/${'x'.repeat(4000)}`])],
  ])('that is %s is refused with its name and an example', (_, json) => {
    expect(() => readPathPatterns(json)).toThrow(/^INVALIDATION_PATHS must be .* \["\/shops\/\{shop_id\}"\]/);
  });
});
