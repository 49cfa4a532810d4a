import { expect, test } from '@jest/globals';
import { besideFolder } from '../../../../tools/dev/start/options.ts';
import { runBeside } from '../../../../tools/dev/start/welcome.ts';
import { testAssembly } from '../../../support/test-stack.ts';

test('--beside is repeatable', () => {
  const folder = testAssembly();
  expect(besideFolder(folder, besideFolder(folder))).toEqual([folder, folder]);
});

test.each(['docs', 'no-such-folder', 'package.json', ''])('--beside is not %j', (folder) => {
  expect(() => besideFolder(folder)).toThrow('It must be the folder of one synthesised stack');
});

test('what runs beside is named with its outputs, and its lines are said as they are', async () => {
  const said: string[] = [];
  const texts = await runBeside(
    {
      async runBeside(_, onLog) {
        onLog?.({ functionName: 'Subscriber', stream: 'stdout', text: 'Kept' });
        return { name: 'Reviews', outputs: { QueueUrl: 'http://localhost/queue' } };
      },
    },
    ['cdk.out'],
    (text) => said.push(text),
  );
  expect(texts).toEqual(['Beside it runs Reviews:\n\n  QueueUrl: http://localhost/queue\n']);
  expect(said).toEqual(['Subscriber: Kept']);
});

test('what cannot be run beside is one line of error', async () => {
  const stack = { runBeside: () => Promise.reject(new Error('Queue cannot be made')) };
  await expect(runBeside(stack, ['cdk.out'], () => {})).rejects.toThrow(
    'cdk.out cannot be run beside the stack: Queue cannot be made',
  );
});
