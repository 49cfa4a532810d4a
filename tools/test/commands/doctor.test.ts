import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestAws, type TestAws } from '../../../test/support/test-aws.ts';
import { Project } from './project.ts';

let aws: TestAws;
let project: Project;

beforeAll(async () => {
  aws = await startTestAws();
  project = await Project.create();
  await writeFile(project.path('outputs.json'), JSON.stringify({ 'PartnerWebhooks-dev': aws.outputs }));
});
afterAll(async () => {
  await aws.close();
  await project.remove();
});

test('looks at the stack of a file, compares it with the code of this folder, and exits with 1 if a check fails', async () => {
  const { code, stdout, stderr } = await project.type(['doctor', '--outputs', 'outputs.json', '--json']);
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  const { stack, checks } = JSON.parse(stdout);
  expect(stack).toBe('the stack of outputs.json');
  expect(checks).toContainEqual({
    group: 'Deployment',
    name: 'this code',
    state: 'ok',
    seen: 'deployed as it is in this folder',
  });
  // Nothing runs functions in this test.
  const failed = checks.filter(({ state }: { state: string }) => state === 'failure');
  expect(new Set(failed.map(({ name }: { name: string }) => name))).toEqual(new Set(['event sources']));
});
