import { CloudWatchClient, CloudWatchServiceException } from '@aws-sdk/client-cloudwatch';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { archiveDelay, notYetArchived } from '../../../../tools/stage/replay/archive-lag.ts';
import { runReplay } from '../../../../tools/stage/replay/run.ts';
import { StateFile } from '../../../../tools/stage/replay/state.ts';
import type { Stage } from '../../../../tools/stage/stage.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { ago, begun, OPERATOR, Replayer } from './support.ts';

let aws: TestAws;
let replayer: Replayer;

beforeAll(async () => {
  aws = await startTestAws();
  replayer = await Replayer.create(aws);
});
afterAll(async () => {
  await replayer.close();
  await aws.close();
});

const SHOPS = ['shop.updated'] as const;

interface Asked {
  readonly MetricName?: string;
  readonly Dimensions?: readonly { readonly Value?: string }[];
}

/** The stack as if it were in AWS, whose CloudWatch gives what the local endpoint does not measure. */
function inAws(
  datapoints: (asked: Asked) => readonly { Timestamp: Date; Maximum: number }[] = () => [],
): Stage {
  const cloudwatch = new CloudWatchClient(aws.operator);
  cloudwatch.middlewareStack.add((next, { commandName }) => async (args) => {
    if (commandName !== 'GetMetricStatisticsCommand') return next(args);
    return { response: {}, output: { Datapoints: datapoints(args.input as Asked), $metadata: {} } };
  });
  return replayer.operator.stack.with({ local: false, cloudwatch });
}

test('in AWS the archive is late by the buffer, the time-out and some minutes in which Firehose writes', async () => {
  const seconds = (await archiveDelay(inAws(), SHOPS)) / 1000;
  expect(seconds).toBeGreaterThanOrEqual(900 + 5 * 60);
  expect(seconds).toBeLessThanOrEqual(900 + 900 + 5 * 60);
  expect(await archiveDelay(replayer.operator.stack, SHOPS)).toBe(2_000);
});

describe('what Firehose holds longer', () => {
  const minutesOld = (minutes: number, measured = 1) => ({ Timestamp: ago(measured), Maximum: minutes * 60 });

  test('of the window is said, with the time of its oldest record', async () => {
    const stack = inAws(({ MetricName, Dimensions }) =>
      MetricName === 'DeliveryToS3.DataFreshness' &&
      Dimensions?.[0]?.Value === aws.outputs.ShopUpdatedArchiveStream
        ? [minutesOld(10, 5), minutesOld(60), minutesOld(20, 3)]
        : [],
    );
    const said = await notYetArchived(stack, SHOPS, ago(30));
    const [, from = ''] =
      /^Firehose still holds records since (\S+Z)\. Replay again later under another name\.$/.exec(
        said ?? '',
      ) ?? [];
    expect(Math.abs(Date.parse(from) - ago(60).getTime())).toBeLessThan(5_000);
    expect(await notYetArchived(stack, ['user.updated'], ago(30))).toBeUndefined();
  });

  test.each([
    ['came after the window', () => [minutesOld(20)]],
    ['was written since', () => [minutesOld(60, 3), minutesOld(5)]],
    ['is not measured, as nothing came', () => []],
  ])('but %s is not', async (_, datapoints) => {
    expect(await notYetArchived(inAws(datapoints), SHOPS, ago(30))).toBeUndefined();
  });

  test('is not known to who may not ask, who is told so', async () => {
    const stack = inAws(() => {
      throw new CloudWatchServiceException({
        name: 'AccessDenied',
        $fault: 'client',
        $metadata: {},
        message: 'not authorized',
      });
    });
    expect(await notYetArchived(stack, SHOPS, ago(30))).toBe(
      'It is unknown whether Firehose still holds records: permission denied for cloudwatch:GetMetricStatistics.',
    );
  });

  test('is said by the replay that is finished without it, and that did not send all', async () => {
    const stack = inAws(() => [minutesOld(600)]);
    const operation = { ...replayer.operator.operation(), stack };
    const done = await runReplay(operation, {
      file: new StateFile(stack, 'held'),
      state: begun('held', ago(90)),
      by: OPERATOR,
      rate: 100,
      delay: 0,
    });
    expect(done).toBe(false);
    expect(operation.said.at(-1)).toMatch(/^Firehose still holds records since /);
    expect(await replayer.state('held')).toHaveProperty('finishedAt');
  });
});
