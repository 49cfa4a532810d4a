import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Resources, readCloudAssembly, type StackTemplate } from 'local-aws/template';
import { testAssembly } from '../support/test-assembly.ts';
import { startTestStack } from '../support/test-stack.ts';

/**
 * A port below the range from which the system gives free ports to other programs. If the stack did not close, the port
 * would stay in use.
 */
const awsPort = 30_000 + (process.pid % 2_000);

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-deployed-'));
});

afterEach(() => rm(folder, { recursive: true }));

test.each<{ what: string; type: string; properties: object; reason: string }>([
  {
    what: 'an unknown route',
    type: 'AWS::ApiGatewayV2::Route',
    properties: { RouteKey: '$default' },
    reason: "The route key '$default' is not supported",
  },
  {
    what: 'an event source of a foreign queue',
    type: 'AWS::Lambda::EventSourceMapping',
    properties: { EventSourceArn: 'arn:aws:sqs:us-east-1:000000000000:foreign' },
    reason: 'needs a queue and a function of this stack',
  },
])('a template with $what is refused, and leaves nothing running', async ({ type, properties, reason }) => {
  await cp(testAssembly(), folder, { recursive: true });
  const file = join(folder, `${readCloudAssembly(folder).name}.template.json`);
  const template = JSON.parse(await readFile(file, 'utf8')) as StackTemplate;
  const resource = Object.values(template.Resources).find(({ Type }) => Type === type);
  Object.assign(resource?.Properties ?? {}, properties);
  await writeFile(file, JSON.stringify(template));
  await expect(startTestStack({ assembly: folder, awsPort })).rejects.toThrow(reason);
});

test('the local stack knows every resource of the template', () => {
  const place = { awsUrl: 'http://aws', apiUrl: 'http://api' };
  expect(new Resources(readCloudAssembly(testAssembly()), place).unknownTypes()).toEqual([]);
});
