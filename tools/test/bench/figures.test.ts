import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.ts';
import { startFakeAws } from '../../bench/fake-aws.ts';
import { startPairs } from '../../bench/figures.ts';
import { runScript } from '../../bench/receivers.ts';

const never = new AbortController().signal;

test('each start is measured until the receiver has answered 200', async () => {
  const [pair, ...others] = await startPairs(
    { signal: never, onProgress: () => {} },
    'receiver',
    'answer',
    1,
  );
  expect(others).toEqual([]);
  expect(Math.min(pair?.of ?? 0, pair?.to ?? 0)).toBeGreaterThan(0);
});

test('AWS is as far away as it says, for the opening of a connection, too', async () => {
  await using aws = await startFakeAws({ secret: 'the secret', delay: 50 });
  const began = performance.now();
  const ask = (VersionStage: string) =>
    fetch(aws.environment.AWS_ENDPOINT_URL_SECRETS_MANAGER ?? '', {
      method: 'POST',
      headers: { 'x-amz-target': 'secretsmanager.GetSecretValue' },
      body: JSON.stringify({ VersionStage }),
    });
  expect(await (await ask('AWSCURRENT')).json()).toMatchObject({ SecretString: 'the secret' });
  expect(performance.now() - began).toBeGreaterThan(195);
  expect((await ask('AWSPREVIOUS')).status).toBe(400);
});

test('a measured process gets nothing of the environment, and its error tells nothing of the delivery', async () => {
  const script =
    'console.log(JSON.stringify(Object.keys(process.env))); process.exit(Number(process.argv[1]))';
  expect(await runScript(script, ['0'], { ONLY: 'this' }, never)).toEqual(['ONLY']);
  const failed = runScript(script, ['3', 'a delivery'], {}, never);
  await expect(failed).rejects.toThrow(/^A measured process ended with 3$/);
});

test('a measured process ends together with the measurement', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-test-'));
  const file = join(folder, 'pid');
  const script = `import { writeFileSync } from 'node:fs';
    writeFileSync(process.argv[1], String(process.pid)); setInterval(() => {}, 1_000);`;
  const controller = new AbortController();
  const ended = expect(runScript(script, [file], {}, controller.signal)).rejects.toThrow('interrupted');
  const pid = await eventually(async () => Number(await readFile(file, 'utf8').catch(() => 0)) || undefined);
  controller.abort(new Error('interrupted'));
  await ended;
  await eventually(async () => !isAlive(pid) || undefined);
  await rm(folder, { recursive: true });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
