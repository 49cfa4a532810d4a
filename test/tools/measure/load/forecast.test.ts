import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Deployment, readDeployment } from '../../../../tools/measure/cost/deployment.ts';
import { describeForecast, takenStage } from '../../../../tools/measure/load/forecast.ts';
import { load } from '../../../../tools/measure/load/load.ts';
import { Stage } from '../../../../tools/stage/stage.ts';
import { stageAssembly } from '../../../lib/stage-assembly.ts';
import { planned } from './support.ts';

const url = new URL('http://localhost:8443/api/v1/webhooks/partner');

describe('what a run costs', () => {
  const forecast = (deployment: Deployment, takenAs?: string) =>
    describeForecast(planned(), { title: 'stage load', url, deployment, takenAs }, 300).join('\n');

  test('and into what it runs is of another stage, and says so, where nothing is known of the one that was named', async () => {
    const deployment = readDeployment(await stageAssembly('prod'));
    const taken =
      / taken as +prod: its cost, limits and throttle, as cdk\.json does not know this stage\n *cost +about \$\d+\.\d\d in us-east-1/;
    expect(forecast(deployment, 'prod')).toMatch(taken);
    expect(forecast(deployment)).not.toContain('taken as');
    expect(forecast(deployment)).toMatch(/ cost +about \$\d+\.\d\d in us-east-1/);
  });

  test.each([
    ['dev', 'dev'],
    ['load', 'prod'],
    [undefined, 'prod'],
  ])('of stage %s is that of %s', (stage, priced) => {
    expect(takenStage(stage)).toBe(priced);
  });
});

describe('where nobody can answer', () => {
  const { isTTY } = process.stdin;
  beforeEach(() => {
    process.stdin.isTTY = false;
  });
  afterEach(() => {
    process.stdin.isTTY = isTTY;
  });

  test('nothing is sent to a stage, though the address is one of this machine', async () => {
    const stack = new Stage('stage load', {
      QuarantineQueueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/quarantine',
    });
    const operation = { stack, signal: new AbortController().signal, printLine: () => {}, width: 80 };
    const options = { plan: planned(), url, secret: 'a-secret', json: false, dryRun: false, yes: false };
    try {
      await expect(load(operation, options)).rejects.toThrow(/^There is no terminal to confirm this in/);
    } finally {
      stack.close();
    }
  });
});
