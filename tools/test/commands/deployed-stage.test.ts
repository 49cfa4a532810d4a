import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { listen } from 'local-aws/http-server';
import { eventually } from '../../../test/support/eventually.ts';
import { startTestAws, type TestAws } from '../../../test/support/test-aws.ts';
import { occupyPort, Project, refusal } from './project.ts';

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

const endpoint = () => new URL(aws.outputs.QuarantineQueueUrl ?? '').origin;

describe('an endpoint of the environment, which may have another stage of this name,', () => {
  const PAUSE = ['pause', 'shop.updated', '--reason', 'x'];
  const profile = (settings: string) => `[profile other]\nregion = eu-west-1\n${settings}\n`;

  test.each([
    [{ AWS_ENDPOINT_URL: 'http://127.0.0.1:1' }, '', 'AWS_ENDPOINT_URL=http://127.0.0.1:1'],
    [{ AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:1' }, '', 'AWS_ENDPOINT_URL_SQS=http://127.0.0.1:1'],
    [
      {},
      profile('services = local\n[services local]\nsqs =\n  endpoint_url = http://127.0.0.1:1'),
      'endpoint_url = http://127.0.0.1:1 in the AWS profile',
    ],
  ])('is refused for a stage: %j %j', async (environment, config, named) => {
    // The SDK remembers what a file has.
    const file = project.path(`aws-config-${randomUUID()}`);
    await writeFile(file, config);
    const outputs = { QuarantineQueueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/x' };
    await writeFile(project.path('aws.json'), JSON.stringify({ stack: outputs }));
    const settings = { AWS_CONFIG_FILE: file, AWS_PROFILE: 'other', ...environment };
    const line = `Calls to AWS go elsewhere: ${named}. Remove this setting, or accept that endpoint with --endpoint <url>`;
    for (const where of [
      ['--stage', 'dev'],
      ['--outputs', 'aws.json'],
    ]) {
      expect(await project.type([...PAUSE, ...where], settings)).toEqual(refusal(line));
    }
  });

  test('is accepted with --endpoint, or if the outputs name an endpoint; the command names it', async () => {
    const region = 'https://sqs.us-east-1.amazonaws.com';
    const inAws = JSON.stringify({ dev: aws.outputs }).replaceAll(endpoint(), region);
    await writeFile(project.path('aws.json'), inAws);
    const elsewhere = {
      AWS_ENDPOINT_URL: endpoint(),
      AWS_ACCESS_KEY_ID: 'any',
      AWS_SECRET_ACCESS_KEY: 'any',
    };
    for (const where of [
      ['--outputs', 'aws.json', '--endpoint', endpoint()],
      ['--outputs', 'outputs.json'],
    ]) {
      const { stdout } = await project.type(['dlq', 'list', ...where], elsewhere);
      expect(stdout).toContain(`Messages in the stack of ${where[1]} at ${endpoint()}. `);
    }
  });
});

// Slow, because the code is synthesised.
test('doctor looks at the stack of a file, and compares it with the code of this folder', async () => {
  const { code, stdout, stderr } = await project.type(['doctor', '--outputs', 'outputs.json', '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { stack, checks } = JSON.parse(stdout);
  expect(stack).toBe(`the stack of outputs.json at ${endpoint()}`);
  expect(checks).toContainEqual({
    group: 'Deployment',
    name: 'this code',
    state: 'ok',
    seen: 'deployed as it is in this folder',
  });
});

describe('the console of a stage', () => {
  test('with --read-only prints its address, which opens it, and changes nothing, until Ctrl-C', async () => {
    const running = project.start(['console', '--outputs', 'outputs.json', '--port', '0', '--read-only']);
    const address = await eventually(async () => {
      if (running.process.exitCode !== null) throw new Error((await running.ended).stderr);
      return /Console {3}(\S+)/.exec(running.stdout())?.[1];
    });
    expect(running.stdout()).toMatch(/^the stack of outputs.json at http:\S+, as arn:aws:\S+, read only\n/);
    const opened = await fetch(address, { redirect: 'manual' });
    const [cookie = ''] = opened.headers.get('set-cookie')?.split(';') ?? [];
    const headers = { cookie, 'content-type': 'application/json' };
    const { origin, searchParams } = new URL(address);
    expect(searchParams.get('token')?.length).toBeGreaterThanOrEqual(32);
    expect((await fetch(`${origin}/api/queues`, { headers })).status).toBe(200);
    const body = JSON.stringify({ argv: ['resume', 'shop.updated'] });
    expect((await fetch(`${origin}/api/commands`, { method: 'POST', headers, body })).status).toBe(403);
    running.interrupt();
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' });
  });

  test('refuses a port that is in use', async () => {
    const { port, server } = await occupyPort();
    expect(await project.type(['console', '--outputs', 'outputs.json', '--port', String(port)])).toEqual(
      refusal(`Port ${port} is in use. Stop what uses it, or choose another with --port`),
    );
    await once(server.close(), 'close');
  });

  test('names everything that is missing in one line', async () => {
    const nothing = {
      AWS_REGION: '',
      AWS_ACCESS_KEY_ID: '',
      AWS_PROFILE: '',
      AWS_EC2_METADATA_DISABLED: 'true',
    };
    const noFiles = { AWS_CONFIG_FILE: 'none', AWS_SHARED_CREDENTIALS_FILE: 'none' };
    expect(await project.type(['console', '--stage', 'prod'], { ...nothing, ...noFiles })).toEqual(
      refusal(
        'AWS needs a region (set AWS_REGION, or AWS_PROFILE to a profile that has one) and credentials (Could not load credentials from any providers)',
      ),
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
      stdout: `For the console of a stage in AWS, name it: --stage … The console of the local stack: ${url}\n`,
      stderr: '',
    });
    // A stack that was killed leaves its files.
    for (const server of servers) await once(server.close(), 'close');
    const outputs = { QuarantineQueueUrl: `${url}000000000000/quarantine` };
    await writeFile(project.path('.local/outputs.json'), JSON.stringify({ stack: outputs }));
    await writeFile(
      project.path('.local/functions.json'),
      JSON.stringify({ receiver: { awsEndpointUrl: url } }),
    );
    const notRunning = refusal('The local stack is not running. Start it with: npm start');
    // In processes of their own: Jest's modules have another `Error` than `fetch`.
    for (const args of [['console'], ['fault', 'list'], ['invoke', 'receiver', 'shop.updated']]) {
      expect(await project.run(args)).toEqual(notRunning);
    }
  });
});
