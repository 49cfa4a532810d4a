import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DeleteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { encode } from '@jridgewell/sourcemap-codec';
import fc from 'fast-check';
import { clientSettings } from '../../lambda/aws-clients.ts';
import { describeError, errorText, isOutage } from '../../lambda/errors.ts';
import { MAX_FRAMES, sourcePositions } from '../../lambda/source-positions.ts';

const named = (name: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { name, ...more });

test('an error of a service is described by its name, text, status, request and the SDK’s attempts', async () => {
  const error = named('AccessDeniedException', 'User is not authorized', {
    $metadata: { httpStatusCode: 400, requestId: 'r-1', attempts: 2 },
  });
  expect(describeError(error)).toEqual({
    error: 'AccessDeniedException',
    errorMessage: 'User is not authorized',
    httpStatus: 400,
    awsRequestId: 'r-1',
    sdkAttempts: 2,
  });
});

// Node.js's own errors belong to another realm than a test's.
test.each([
  { code: 'ECONNRESET', expected: 'connection closed' },
  { code: 'ETIMEDOUT', expected: 'no answer in time' },
])('a failed call is named, with the state of its connection: $expected', async ({ code, expected }) => {
  const client = new DynamoDBClient({
    ...clientSettings,
    requestHandler: { handle: () => Promise.reject(Object.assign(new Error('x'), { code })) },
    region: 'us-east-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  });
  const error = await client.send(new DeleteItemCommand({ TableName: 'cast', Key: {} })).catch((e) => e);
  const described = describeError(error);
  expect(described).toMatchObject({ call: 'DynamoDB DeleteItem', error: expected });
  expect(described).not.toHaveProperty('errorMessage');
  expect(errorText(described)).toBe(`DynamoDB DeleteItem: ${expected}`);
});

test('the cause of an error is described, too', async () => {
  const error = named('EffectNotRecordedError', 'done', {
    cause: named('TimeoutError', 'slow'),
  });
  expect(describeError(error)).toMatchObject({
    cause: { error: 'TimeoutError', errorMessage: 'slow' },
  });
  expect(errorText(describeError(error))).toBe('EffectNotRecordedError: done; caused by TimeoutError: slow');
});

describe('of an error that may quote what was sent', () => {
  const parameter = 'InvalidParameterException';
  const value = 'InvalidParameterValue';
  // Messages of AWS, most from issues of boto3 and the AWS SDKs, with `Sora` for what was sent.
  test.each([
    [parameter, 'Invalid parameter: Subject', 'Invalid parameter: Subject'],
    [parameter, 'Invalid parameter: Sora Reason: Sora is not valid', undefined],
    [
      value,
      'Value Sora for parameter MessageGroupId is invalid. Reason: MessageGroupId can only include …',
      'parameter MessageGroupId is invalid',
    ],
    ['InvalidMessageContents', 'Invalid characters found: Sora', undefined],
    ...['tableName', 'records.1.member.data'].map((place) => [
      'ValidationException',
      `1 validation error detected: Value 'Sora' at '${place}' failed to satisfy constraint: Member …`,
      place.split('.')[0],
    ]),
    [
      'ValidationException',
      'Item size has exceeded the maximum allowed size',
      'Item size has exceeded the maximum allowed size',
    ],
    ['SyntaxError', 'Unexpected token S in JSON at position 0: Sora', undefined],
  ])('%s, only the parameter or the limit is shown of “%s”', async (name = '', message = '', shown) => {
    expect(describeError(named(name, message)).errorMessage).toBe(shown);
  });

  test('no text but AWS’ own words is shown, whatever the message is', () => {
    const words = [
      ...['Invalid parameter: ', 'Value ', ' for parameter ', ' is invalid', "at '", 'Subject', 'Message'],
      ...['message attribute ', 'Message must be shorter than '],
    ];
    const part = fc.oneof(fc.constantFrom(...words), fc.constantFrom('Sora', '09012345678', '\n', "'"));
    return fc.assert(
      fc.asyncProperty(fc.array(part), async (parts) => {
        const described = describeError(named('InvalidParameterValue', parts.join('')));
        expect(errorText(described)).not.toMatch(/Sora|09012345678/);
      }),
    );
  });

  test('a name that is about a KMS key is no such error', async () => {
    const message = 'arn:aws:kms:eu-west-1:111122223333:key/1 is pending deletion.';
    const error = named('KMSInvalidStateException', message);
    expect(describeError(error)).toMatchObject({ errorMessage: message });
  });
});

/**
 * Source map of one line: column 5 maps to line 84 of a file, column 15 to a package, column 25 to line 3.
 */
const MAP = {
  version: 3,
  sources: ['lambda/effects/cast.ts', 'node_modules/@smithy/core'],
  names: [],
  mappings: encode([
    [
      [5, 0, 83, 0],
      [15, 1, 0, 0],
      [25, 0, 2, 0],
    ],
  ]),
};
const PUT = 'lambda/effects/cast.ts:84';
const SMITHY = 'node_modules/@smithy/core';

let folder: string;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'source-positions-'));
  url = `${pathToFileURL(folder).href}/`;
  const files = {
    'index.mjs.map': JSON.stringify(MAP),
    'broken.mjs.map': '{"version":3,',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
});
afterAll(() => rm(folder, { recursive: true }));

function stackOf(message: string, frames: readonly string[], header = `Error: ${message}`): string[] {
  const stack = [header, ...frames.map((frame) => `    at ${frame}`)].join('\n');
  return sourcePositions(Object.assign(new Error(message), { stack }), url);
}

test.each([
  ['a.add (FOLDER/index.mjs:1:8)', [PUT]],
  ['a (FOLDER/index.mjs:1:18)', [SMITHY]],
  ['FOLDER/index.mjs:1:28', ['lambda/effects/cast.ts:3']],
  // Outside of our sources.
  ['a (FOLDER/index.mjs:1:2)', []],
  ['a (FOLDER/broken.mjs:1:8)', []],
  ['a (file:///elsewhere/index.mjs:1:8)', []],
  ['eval (eval at a (FOLDER/index.mjs:1:8), <anonymous>:1:1)', []],
])('the stack frame %s is shown as %j', (frame, expected) => {
  expect(stackOf('no', [frame.replace('FOLDER/', url)])).toEqual(expected);
});

test('an error whose stack is no text is described without it', () => {
  expect(describeError(Object.assign(new Error('no'), { stack: null }))).toMatchObject({
    errorMessage: 'no',
  });
});

test('the innermost of many frames are shown', () => {
  const frames = Array.from({ length: 50 }, (_, index) => `a (${url}index.mjs:1:${index % 2 ? 18 : 28})`);
  const shown = stackOf('no', [`a (${url}index.mjs:1:8)`, ...frames]);
  expect(shown).toHaveLength(MAX_FRAMES);
  expect(shown[0]).toBe(PUT);
});

test('text of a message is never shown', () => {
  const part = fc.oneof(
    fc.string(),
    fc.constantFrom('\n', '    at ', ' (', ')', ':', ':1:8', ':1:18)', '\n    at a (', '.mjs', '.mjs:1:8)'),
    fc.constant('index.mjs').map((file) => url + file),
    fc.constant(null).map(() => url),
  );
  const known = new Set([PUT, SMITHY, 'lambda/effects/cast.ts:3']);
  fc.assert(
    fc.property(fc.array(part), fc.boolean(), (parts, isReplaced) => {
      const message = parts.join('');
      // Some libraries change the message after the stack was created.
      const shown = stackOf(
        isReplaced ? 'replaced by a longer text '.repeat(20) : message,
        [`a (${url}index.mjs:1:8)`],
        `Error: ${message}`,
      );
      return shown.at(-1) === PUT && shown.every((text) => known.has(text));
    }),
  );
});

const answered = (httpStatusCode: number) => ({ $metadata: { httpStatusCode, attempts: 1 } });

test.each<[boolean, string, unknown]>([
  [true, 'no answer in time', named('TimeoutError', 'x', { $metadata: { attempts: 2 } })],
  [true, 'an answer of 503', named('ServiceUnavailable', 'x', answered(503))],
  [true, 'an answer of 429', named('TooMany', 'x', answered(429))],
  [true, 'a throttle', named('ThrottlingException', 'x', answered(400))],
  [true, 'throttling of the key', named('KmsThrottled', 'x', answered(400))],
  [true, 'a connection that breaks', named('Error', 'x', { code: 'ECONNRESET' })],
  [true, 'its consequence', new Error('x', { cause: named('ThrottlingException', 'x', answered(400)) })],
  [false, 'a bug', new TypeError('x')],
  [false, 'a misuse of Node.js', named('TypeError', 'x', { code: 'ERR_INVALID_ARG_TYPE' })],
  [false, 'a missing permission', named('AccessDeniedException', 'x', answered(400))],
  [false, 'a missing queue', named('QueueDoesNotExist', 'x', answered(400))],
])('it is %p that this is an outage: %s', (expected, _, error) => {
  expect(isOutage(error)).toBe(expected);
});
