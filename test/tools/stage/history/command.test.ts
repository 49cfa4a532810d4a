import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventNames } from '../../../../lambda/events/catalogue.ts';
import { pascalCase } from '../../../../lambda/events/event-names.ts';
import { eventually } from '../../../support/eventually.ts';
import { Project } from '../../cli/commands/project.ts';

let project: Project;
/** Stands for Logs Insights with a query that takes for ever. */
let insights: Server;
let outputsFile: string;
const asked: string[] = [];

const ANSWERS: Readonly<Record<string, object>> = {
  DescribeLogGroups: { logGroups: [] },
  StartQuery: { queryId: 'query-1' },
  GetQueryResults: { status: 'Running', results: [], statistics: {} },
  StopQuery: { success: true },
};

beforeAll(async () => {
  project = await Project.create();
  insights = createServer((request, response) => {
    const operation = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
    asked.push(operation);
    request.resume();
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(ANSWERS[operation]));
  });
  await once(insights.listen(0, '127.0.0.1'), 'listening');
  const { port } = insights.address() as AddressInfo;
  const groups = ['ReceiverLogGroup', ...eventNames.map((event) => `${pascalCase(event)}LogGroup`)];
  const outputs = {
    QuarantineQueueUrl: `http://127.0.0.1:${port}/000000000000/quarantine`,
    ...Object.fromEntries(groups.map((group) => [group, group])),
  };
  outputsFile = project.path('insights.json');
  await writeFile(outputsFile, JSON.stringify({ stack: outputs }));
});
afterAll(async () => {
  insights.close();
  await project.remove();
});

describe('what it cannot do it says in one line, and exits with 1', () => {
  test.each([
    ['no id', [], 'Give an id or --search <text>'],
    ['an empty id', [''], 'The id is empty: give an event id, a request id, a message id or a webhookId'],
    [
      'a time that is none',
      ['abcdef01', '--since', 'yesterday'],
      /^Option '--since <time>' argument 'yesterday' is invalid\. It must be a time/,
    ],
    [
      'a window without time',
      ['abcdef01', '--since', '2026-01-31', '--until', '2026-01-30'],
      /^--until must be after --since: /,
    ],
    ['an id and a search', ['abcdef01', '--search', 'x'], 'Either an id or --search, not both'],
  ])('%s', async (_, args, line) => {
    const { code, stdout, stderr } = await project.run(['trace', ...args, '--outputs', outputsFile]);
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 1, stdout: '', lines: 2 });
    expect(stderr.trimEnd()).toMatch(line);
  });

  test('no local stack', async () => {
    expect(await project.run(['trace', 'abcdef01'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The local stack is not running. Start it with: npm start\n',
    });
  });
});

test('Ctrl-C stops the query, which is paid by what it scans', async () => {
  const trace = project.start(['trace', 'abcdef01', '--outputs', outputsFile]);
  await eventually(async () => asked.includes('GetQueryResults') || undefined);
  trace.interrupt();
  expect(await trace.ended).toEqual({
    code: 130,
    stdout: 'Interrupted. The query of the logs is stopped, and nothing was changed.\n',
    stderr: '',
  });
  expect(asked.at(-1)).toBe('StopQuery');
});
