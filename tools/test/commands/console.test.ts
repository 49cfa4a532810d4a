import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { listen } from 'local-aws/gateway';
import { eventually } from '../../../test/support/eventually.ts';
import { startTestAws, type TestAws } from '../../../test/support/test-aws.ts';
import { occupyPort, Project, refusal } from './project.ts';

let aws: TestAws;
let project: Project;

beforeAll(async () => {
  aws = await startTestAws();
  project = await Project.create();
  await writeFile(project.path('outputs.json'), JSON.stringify({ 'PartnerWebhooks-test': aws.outputs }));
});
afterAll(async () => {
  await aws.close();
  await project.remove();
});

describe('the console of a stage', () => {
  test.each([
    { options: [], status: 202, said: '' },
    { options: ['--read-only'], status: 403, said: ', read only' },
  ])('with $options prints its address, which opens it, until Ctrl-C', async ({ options, status, said }) => {
    const running = project.start(['console', '--outputs', 'outputs.json', '--port', '0', ...options]);
    const address = await eventually(async () => {
      if (running.process.exitCode !== null) throw new Error((await running.ended).stderr);
      return /Console {3}(\S+)/.exec(running.stdout())?.[1];
    });
    expect(running.stdout()).toMatch(new RegExp(`^the stack of outputs.json, as arn:aws:\\S+${said}\n`));
    const { origin, searchParams } = new URL(address);
    expect(searchParams.get('token')?.length).toBeGreaterThanOrEqual(32);
    const opened = await fetch(address, { redirect: 'manual' });
    const [cookie = ''] = opened.headers.get('set-cookie')?.split(';') ?? [];
    const headers = { cookie, 'content-type': 'application/json' };
    const read = await fetch(`${origin}/api/queues`, { headers });
    expect({ status: read.status, body: await read.json() }).toMatchObject({
      status: 200,
      body: { problems: [] },
    });
    const body = JSON.stringify({ argv: ['resume', 'shop.updated'] });
    expect((await fetch(`${origin}/api/tasks`, { method: 'POST', headers, body })).status).toBe(status);
    expect((await fetch(`${origin}/api/queues`)).status).toBe(403);
    running.interrupt();
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' });
  });

  test('refuses a port that is in use', async () => {
    const { port, server } = await occupyPort();
    try {
      expect(await project.type(['console', '--outputs', 'outputs.json', '--port', String(port)])).toEqual(
        refusal(`Port ${port} is in use. Stop what uses it, or choose another with --port`),
      );
    } finally {
      await once(server.close(), 'close');
    }
  });

  test.each([
    [
      { AWS_REGION: '' },
      'a region (set AWS_REGION, or AWS_PROFILE to a profile that has one) and credentials (Could not load credentials from any providers)',
    ],
    [{ AWS_REGION: 'eu-west-1' }, 'credentials (Could not load credentials from any providers)'],
  ])('names everything that is missing in one line: %j', async (given, missing) => {
    const nothing = { AWS_ACCESS_KEY_ID: '', AWS_PROFILE: '', AWS_EC2_METADATA_DISABLED: 'true' };
    const noFiles = { AWS_CONFIG_FILE: 'none', AWS_SHARED_CREDENTIALS_FILE: 'none' };
    const settings = { ...nothing, ...noFiles, ...given };
    expect(await project.type(['console', '--stage', 'prod'], settings)).toEqual(
      refusal(`AWS needs ${missing}`),
    );
  });

  test('of the local stack runs with it; the command prints its address', async () => {
    expect(await project.type(['console'])).toEqual(
      refusal('Name a stage: --stage … The local stack has its own console: npm start'),
    );
    const { servers, port } = await listen({}, (_request, response) => response.end(), { port: 0 });
    const url = `http://localhost:${port}/`;
    await writeFile(project.path('.local/console.json'), JSON.stringify({ url }));
    expect(await project.type(['console'])).toEqual({
      code: 0,
      stdout: `The console of the local stack is at ${url} For a stage in AWS, name it: --stage …\n`,
      stderr: '',
    });
    for (const server of servers) await once(server.close(), 'close');
    expect(await project.type(['console'])).toEqual(
      refusal(`The console at ${url} is no longer running. Start the local stack with: npm start`),
    );
  });
});
