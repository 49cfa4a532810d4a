import { expect, test } from '@jest/globals';
import { Tasks } from '../../../tools/console/server/tasks.ts';
import { Stage } from '../../../tools/stage/stage.ts';

test('nothing is begun while the end of what runs is waited for', async () => {
  const stack = new Stage('a stack', {
    QuarantineQueueUrl: 'http://localhost:4566/000000000000/quarantine',
  });
  const tasks = new Tasks(stack, () => {});
  const ended = Promise.withResolvers<boolean>();
  const work = { command: 'npm run send', run: () => ended.promise };
  tasks.start(work);
  const closed = tasks.close();
  expect(() => tasks.start(work)).toThrow('The console is closing');
  ended.resolve(true);
  await closed;
  expect(tasks.list()).toMatchObject([{ state: 'done' }]);
  stack.close();
});
