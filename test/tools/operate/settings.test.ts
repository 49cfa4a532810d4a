import { afterEach, describe, expect, test } from '@jest/globals';
import { LOCAL_SECRET } from '../../../events/signing.ts';
import { chooseSecret, parsePort } from '../../../tools/operate/settings.ts';
import { CommandError } from '../../../tools/terminal/command-error.ts';

describe('a port', () => {
  test.each([
    ['0', 0],
    ['3000', 3000],
    ['65535', 65_535],
  ])('%s', (text, expected) => {
    expect(parsePort(text, 'port')).toBe(expected);
  });

  test.each(['', ' ', '65536', '-1', '3e3', '0x50', '80.5', 'http', '３０００'])('is not %j', (text) => {
    expect(() => parsePort(text, 'aws-port')).toThrow(
      new CommandError(`--aws-port must be a port number from 0 to 65535, not '${text}'`),
    );
  });
});

describe('the secret of a command', () => {
  const before = process.env.WEBHOOK_SECRET;

  afterEach(() => {
    if (before === undefined) delete process.env.WEBHOOK_SECRET;
    else process.env.WEBHOOK_SECRET = before;
  });

  test.each([
    ['its option, before its environment', 'of the option', 'of the environment', 'of the option'],
    ['its environment, without an option', undefined, 'of the environment', 'of the environment'],
    ['the local one, without either', undefined, undefined, LOCAL_SECRET],
  ])('is %s', (_what, option, variable, expected) => {
    if (variable === undefined) delete process.env.WEBHOOK_SECRET;
    else process.env.WEBHOOK_SECRET = variable;
    expect(chooseSecret(option)).toBe(expected);
  });

  test.each([
    ['option', '', 'of the environment'],
    ['environment', undefined, ''],
  ])('is never empty: %s', (_what, option, variable) => {
    process.env.WEBHOOK_SECRET = variable;
    expect(() => chooseSecret(option)).toThrow(CommandError);
  });
});
