import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { startTestAws, type TestAws } from '../../../../test/support/test-aws.ts';
import { Stage } from '../../../stage/stage.ts';

/**
 * Starts the stack's resources behind an endpoint with answers of its own, for all tests of a file. It passes other
 * calls on.
 */
export function stubbedAws() {
  const answers = new Map<string, object | string>();
  /**
   * Answers calls whose name contains the text, until the next test. A name is `service Operation` or `service METHOD
   * /path`.
   * @param given a JSON document, or XML. With a status: an error in JSON
   */
  const answer = (call: string, given: object | string) => answers.set(call, given);

  /** Describes a deployed stack with these resources only. */
  function resources(
    given: Readonly<Record<string, readonly [type: string, physicalId: string, properties?: object]>>,
  ): void {
    const all = Object.entries(given);
    const Resources = Object.fromEntries(all.map(([id, [Type, , Properties]]) => [id, { Type, Properties }]));
    const body = JSON.stringify({ Resources }).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    answer('cloudformation GetTemplate', xml('GetTemplate', `<TemplateBody>${body}</TemplateBody>`));
    const members = all.map(
      ([id, [type, physicalId]]) =>
        `<member><LogicalResourceId>${id}</LogicalResourceId><PhysicalResourceId>${physicalId}</PhysicalResourceId><ResourceType>${type}</ResourceType></member>`,
    );
    const list = `<StackResourceSummaries>${members.join('')}</StackResourceSummaries>`;
    answer('cloudformation ListStackResources', xml('ListStackResources', list));
  }

  const stubbed = { answer, resources } as {
    answer: typeof answer;
    resources: typeof resources;
    aws: TestAws;
    /** The stage at this endpoint. Not local: its commands call everything that a deployed stage has. */
    stage: Stage;
  };
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    const call = callOf(incoming, body.toString());
    const [, given] = [...answers].findLast(([name]) => call.includes(name)) ?? [];
    if (given === undefined) passOn(incoming, body, outgoing, stubbed.aws.operator.endpoint);
    else write(outgoing, given);
  });
  beforeAll(async () => {
    stubbed.aws = await startTestAws();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { outputs } = stubbed.aws;
    const here = `http://localhost:${(server.address() as AddressInfo).port}`;
    const QuarantineQueueUrl = `${here}${new URL(outputs.QuarantineQueueUrl ?? '').pathname}`;
    const stage = new Stage('stage test', { ...outputs, QuarantineQueueUrl }, ' --stage test');
    stubbed.stage = stage.with({ local: false });
  });
  beforeEach(() => {
    answers.clear();
  });
  afterAll(async () => {
    stubbed.stage.close();
    server.closeAllConnections();
    server.close();
    await stubbed.aws.close();
  });
  return stubbed;
}

function write(outgoing: ServerResponse, answer: object | string): void {
  if (typeof answer === 'string') {
    outgoing.writeHead(200, { 'content-type': 'text/xml' }).end(answer);
    return;
  }
  const error = answer as { readonly status?: unknown; readonly code?: string };
  outgoing
    .writeHead(typeof error.status === 'number' ? error.status : 200, {
      'content-type': 'application/x-amz-json-1.1',
      ...(error.code && { 'x-amzn-errortype': error.code }),
    })
    .end(JSON.stringify(answer));
}

function passOn(
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  outgoing: ServerResponse,
  endpoint: string,
): void {
  const { host } = new URL(endpoint);
  httpRequest(`${endpoint}${url}`, { method, headers: { ...headers, host } }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(outgoing);
  }).end(body);
}

function callOf({ method, url = '', headers }: IncomingMessage, body: string): string {
  const [, service] = /Credential=[^/]+\/\d+\/[^/]+\/([^/]+)\//.exec(headers.authorization ?? '') ?? [];
  const target = String(headers['x-amz-target'] ?? '')
    .split('.')
    .at(-1);
  const form = new URLSearchParams(body).get('Action');
  return `${service} ${target || form || `${method} ${url}`}`;
}

/** The answer of a query service. */
export const xml = (operation: string, content: string) =>
  `<${operation}Response><${operation}Result>${content}</${operation}Result></${operation}Response>`;
