import { writeFile } from 'node:fs/promises';
import { UpdateEventSourceMappingCommand } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from '../../../../local/local-stack.ts';
import { pauseState } from '../../../../tools/stage/queues/pause-state.ts';
import { eventually } from '../../../support/eventually.ts';
import { startTestStack } from '../../../support/test-stack.ts';
import { Project } from '../../cli/commands/project.ts';
import { Operator } from '../queues/support.ts';

let project: Project;
let stack: LocalStack;
let operator: Operator;

beforeAll(async () => {
  project = await Project.create();
  stack = await startTestStack({ environment: { FIRST_RETRY_DELAY_SECONDS: '1', MAXIMUM_RECEIVES: '2' } });
  operator = await Operator.create(stack);
});
afterAll(async () => {
  await operator.close();
  await stack.close();
  await project.remove();
});

const send = (...args: string[]) => project.run(['send', '--outputs', operator.outputsFile, ...args]);

/** Time, gap and what happened; the facts of a step. */
const STEP =
  /^\d\d:\d\d:\d\d\.\d{3} +(?:\+\d+ \S+)? *● (received|queued|answered|processed|failed|dead letter) /;
const stepsOf = (stdout: string) => stdout.split('\n').flatMap((line) => STEP.exec(line)?.[1] ?? []);

describe('send --wait', () => {
  test('signs with the secret of the stack, and prints the history until the effect', async () => {
    const { code, stdout, stderr } = await send('shop.updated', '--wait');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^200 queued {2}event [0-9a-f]{64} {2}request \S+\n\nshop\.updated /);
    expect(stepsOf(stdout)).toEqual(['received', 'queued', 'answered', 'processed']);
    expect(stdout).toMatch(/\nProcessed: Finished at \S+\.\n$/);
  });

  test('prints each of several histories, the same bytes again as a delivery of its own', async () => {
    const file = project.path('user.json');
    const data = { user_id: 'user-1', shop_id: 'shop-1' };
    await writeFile(file, JSON.stringify({ event: 'user.updated', data, timestamp: '2026-01-31T09:00:00Z' }));
    const { code, stdout } = await send('--file', file, '--count', '3', '--wait', '20', '--json');
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(code).toBe(0);
    expect(lines).toHaveLength(3);
    expect(new Set(lines.map(({ body }) => body.requestId)).size).toBe(3);
    for (const { status, body, trace } of lines) {
      expect(status).toBe(200);
      expect(trace).toMatchObject({
        id: body.eventId,
        idIs: 'eventId',
        history: { now: [{ state: expect.stringMatching(/^(processed|skipped)$/) }] },
      });
      const requests = trace.history.steps.map((step: { requestId?: string }) => step.requestId);
      expect(new Set(requests)).toEqual(new Set([body.requestId]));
    }
  });

  test('prints each attempt until the dead letter, which is no effect', async () => {
    const end = stack.faults.inject({ service: 'dynamodb', kind: 'throttled' });
    const { code, stdout } = await send('girl.created', '--wait', '25');
    end();
    expect(code).toBe(1);
    expect(stepsOf(stdout)).toEqual(['received', 'queued', 'answered', 'failed', 'dead letter']);
    expect(stdout).toMatch(/\nDead letter: .* It is on the dead-letter queue of girl\.created\..*\n$/);
  });

  test('says what is still on its way after the limit', async () => {
    const { uuid: UUID } = await pauseState(operator.stack, 'review.posted');
    const { lambda } = operator.stack;
    await lambda.send(new UpdateEventSourceMappingCommand({ UUID, Enabled: false }));
    await eventually(async () => {
      const { source } = await pauseState(operator.stack, 'review.posted');
      return source === 'Disabled' || undefined;
    });
    const { code, stdout } = await send('review.posted', '--wait', '1');
    await lambda.send(new UpdateEventSourceMappingCommand({ UUID, Enabled: true }));
    expect(code).toBe(1);
    expect(stepsOf(stdout)).toEqual(['received', 'queued', 'answered']);
    expect(stdout).toMatch(
      /\nIt has not settled after 1 s\.\nQueued: It has waited on the queue of review\.posted/,
    );
  });

  test('has nothing to wait for where a delivery is not accepted', async () => {
    const { code, stdout } = await send('shop.updated', '--wait', '--bad-signature');
    expect({ code, lines: stdout.trimEnd().split('\n') }).toEqual({
      code: 0,
      lines: [expect.stringMatching(/^401 /)],
    });
  });
});

describe('send --again', () => {
  const shop = (more: object = {}) =>
    JSON.stringify({
      event: 'shop.updated',
      data: { shop_id: 'shop-1', ...more },
      timestamp: new Date().toISOString(),
    });
  const write = async (body: string) => {
    const file = project.path('again.json');
    await writeFile(file, body);
    return file;
  };
  const id = (stdout: string, of: 'event' | 'request') =>
    new RegExp(` ${of} (\\S+)`).exec(stdout)?.[1]?.slice(0, 8) ?? '';

  test.each([
    ['of the archive', { name: 'kept' }],
    ['of the payload bucket', { name: 'x'.repeat(1_200_000) }],
  ])('sends the bytes %s once more, and tells what became of both', async (_, more) => {
    const sent = await send('--file', await write(shop(more)), '--wait');
    const again = await send('--again', id(sent.stdout, 'request'), '--wait');
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(again.stdout).toMatch(
      /^Sending event [0-9a-f]{64} \(shop\.updated, \d+ bytes\) again, from the archive\.\n200 queued /,
    );
    expect(id(again.stdout, 'event')).toBe(id(sent.stdout, 'event'));
    expect(again.stdout).toMatch(/\nSkipped: This event was processed before\.\n$/);
  });

  test('sends what is in quarantine', async () => {
    const sent = await send('--file', await write('{"event":"shop.updated"}'));
    const again = await send('--again', id(sent.stdout, 'request'));
    expect(again.stdout).toMatch(/^Sending event .* again, from the quarantine queue\.\n400 /);
  });

  test('says where to look if the bytes are not kept', async () => {
    const rejected = await send('shop.updated', '--bad-signature', '--json');
    const { code, stderr } = await send('--again', JSON.parse(rejected.stdout).body.requestId);
    expect(code).toBe(1);
    expect(stderr).toBe('It was not accepted, so its bytes were not stored and cannot be sent again\n');
  });

  test('takes no event beside the id', async () => {
    const { stderr } = await send('shop.updated', '--again', 'abcdef01');
    expect(stderr).toBe('--again sends a delivery of a stack: leave out the event, --file and --url\n');
  });
});

describe('trace --search', () => {
  const search = (...args: string[]) =>
    project.run(['trace', '--search', ...args, '--outputs', operator.outputsFile]);

  test('lists deliveries by payload, shop, error and id, whatever the case, and says what it left out', async () => {
    const marker = `Marker-${Date.now()}`;
    const data = { shop_id: `shop-${marker}`, name: `say "${marker}"` };
    const file = project.path('marked.json');
    await writeFile(file, JSON.stringify({ event: 'shop.updated', data, timestamp: '2026-01-31T09:00:00Z' }));
    const sent = await send('--file', file, '--wait');
    const request = / request (\S+)/.exec(sent.stdout)?.[1] ?? '';
    for (const text of [marker.toLowerCase(), `"${marker}"`, request, request.slice(0, 8)]) {
      const { code, stdout } = await search(text);
      expect({ text, code, stdout }).toMatchObject({ code: 0 });
      expect(stdout).toContain(`1 delivery has '${text}'.`);
      expect(stdout).toMatch(
        new RegExp(`shop\\.updated +shop-${marker} +Processed +${request.replaceAll('+', '\\+')}\\n`),
      );
      expect(stdout).toContain('Payloads that wait on a queue or are too large');
    }
  });

  test.each([
    ['a reason', 'WRONG SIGNATURE'],
    ['an error as it is printed', 'DynamoDB UpdateItem: ProvisionedThroughputExceededException: '],
  ])('finds %s', async (_, text) => {
    const end = stack.faults.inject({ service: 'dynamodb', kind: 'throttled' });
    await send('shop.updated', '--wait', '25');
    end();
    await send('shop.updated', '--bad-signature');
    const { deliveries } = JSON.parse((await search(text, '--json')).stdout);
    expect(deliveries).not.toEqual([]);
  });

  test('finds nothing outside its window', async () => {
    const { code, stdout } = await search('shop-1', '--until', '2026-01-31');
    expect({ code, first: stdout.split('\n')[0] }).toEqual({
      code: 0,
      first: "Nothing was found for 'shop-1' in what was searched.",
    });
  });

  test('names what may not be read', async () => {
    const outputs = { ...operator.outputs, ReceiverLogGroup: 'not-mine', ArchiveBucket: 'not-mine' };
    const file = project.path('outputs.json');
    await writeFile(file, JSON.stringify({ stack: outputs }));
    const { code, stdout } = await project.run(['trace', '--search', 'x', '--outputs', file]);
    expect(code).toBe(1);
    expect(stdout).toContain('The logs could not be read: ResourceNotFoundException');
    expect(stdout).toContain('The archive, which knows payloads and shops, could not be read: NoSuchBucket');
  });
});
