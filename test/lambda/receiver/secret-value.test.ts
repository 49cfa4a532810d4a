import { expect, test } from '@jest/globals';
import { readSecretValue } from '../../../lambda/receiver/webhook-secrets.ts';

test.each([
  ['a bare secret', 'abc', 'abc'],
  ['digits', '123', '123'],
  ['a JSON string', '"abc"', '"abc"'],
  ['true', 'true', 'true'],
  ['a JSON array', '["abc"]', '["abc"]'],
  ['a brace', '{abc', '{abc'],
  ['white space at its end', 'abc\n', 'abc\n'],
  ['a JSON object with the key', '{"WEBHOOK_SECRET":"abc"}', 'abc'],
  ['a JSON object with other keys too', ' {"OTHER":"x","WEBHOOK_SECRET":"{}"} ', '{}'],
])('a value that is %s', (_, stored, secret) => {
  expect(readSecretValue(stored)).toBe(secret);
});

test.each([
  ['binary', undefined],
  ['empty', ''],
  ['a JSON object without the key', '{"SECRET":"abc"}'],
  ['a JSON object with an empty secret', '{"WEBHOOK_SECRET":""}'],
  ['a JSON object with a number', '{"WEBHOOK_SECRET":123}'],
])('a value that is %s is refused, and not shown', (_, stored) => {
  expect(() => readSecretValue(stored)).toThrow(expect.objectContaining({ name: 'UnusableSecretError' }));
  expect(() => readSecretValue(stored)).not.toThrow(/abc|123/);
});
