import { writeFile } from 'node:fs/promises';
import { UpdateEventSourceMappingCommand } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalStack } from '../../../../local/local-stack.ts';
import { pauseState } from '../../../../tools/stage/queues/pause-state.ts';
import { eventually } from '../../../support/eventually.ts';
import { startTestStack } from '../../../support/test-stack.ts';
import { Project } from '../../commands/project.ts';
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
    expect(stdout).toMatch(/\nProcessed: It was processed at \S+\.\n$/);
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
