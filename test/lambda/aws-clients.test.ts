import { expect, test } from '@jest/globals';
import { describeError, errorText } from '../../lambda/aws-clients.ts';

const named = (name: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { name, ...more });

test('an error of a service is described by its name, text, status, request and attempts', async () => {
  const error = named('AccessDeniedException', 'User is not authorized', {
    $metadata: { httpStatusCode: 400, requestId: 'r-1', attempts: 2 },
  });
  expect(await describeError(error)).toEqual({
    error: 'AccessDeniedException',
    errorMessage: 'User is not authorized',
    httpStatus: 400,
    awsRequestId: 'r-1',
    attempts: 2,
  });
});

test('what caused an error is described, too', async () => {
  const error = named('IdempotencyPersistenceLayerError', 'Failed to save', {
    cause: named('TimeoutError', 'slow'),
  });
  expect(await describeError(error)).toMatchObject({
    cause: { error: 'TimeoutError', errorMessage: 'slow' },
  });
  expect(errorText(error)).toBe(
    'IdempotencyPersistenceLayerError: Failed to save; caused by TimeoutError: slow',
  );
});

test.each(['InvalidParameterValue', 'SyntaxError', 'SerializationException'])(
  'the text of %s, which may quote what was sent, is left out',
  async (name) => {
    expect(await describeError(named(name, 'Sora'))).toEqual({ error: name });
    expect(errorText(named(name, 'Sora'))).toBe(name);
  },
);

test('what is no error is described by its type', async () => {
  expect(await describeError('Sora')).toEqual({ error: 'string' });
  expect(errorText('Sora')).toBe('string');
});

test('an error whose stack cannot be read is described all the same', async () => {
  const error = Object.defineProperty(named('Error', 'broken'), 'stack', {
    get: () => {
      throw new Error('no stack');
    },
  });
  expect(await describeError(error)).toEqual({ error: 'Error', errorMessage: 'broken' });
});
