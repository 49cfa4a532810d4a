import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { DoneObjects } from '../../../../tools/stage/replay/done-objects.ts';
import { InOrder } from '../../../../tools/stage/replay/in-order.ts';
import { Pace } from '../../../../tools/stage/replay/pace.ts';

const never = new AbortController().signal;

describe('work in order', () => {
  test('is noted in the order in which it began, whichever ends first', async () => {
    const line = new InOrder(4);
    const noted: number[] = [];
    for (const [index, milliseconds] of [40, 5, 20, 1, 10].entries()) {
      await line.add(
        () => sleep(milliseconds),
        () => noted.push(index),
      );
    }
    await line.end();
    expect(noted).toEqual([0, 1, 2, 3, 4]);
  });

  test('is noted with what it gave', async () => {
    const line = new InOrder(2);
    const noted: string[] = [];
    for (const text of ['one', 'two']) {
      await line.add(
        async () => text,
        (given) => noted.push(given),
      );
    }
    await line.end();
    expect(noted).toEqual(['one', 'two']);
  });

  test('is done so many at a time', async () => {
    const line = new InOrder(3);
    let running = 0;
    let most = 0;
    for (let index = 0; index < 20; index += 1) {
      await line.add(
        async () => {
          running += 1;
          most = Math.max(most, running);
          await sleep(2);
          running -= 1;
        },
        () => {},
      );
    }
    await line.end();
    expect({ most, running }).toEqual({ most: 3, running: 0 });
  });

  test('waits while something slow keeps much from being noted', async () => {
    const line = new InOrder(2);
    let begun = 0;
    let end = () => {};
    await line.add(
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
      () => {},
    );
    const adding = (async () => {
      for (let index = 0; index < 100; index += 1) {
        await line.add(
          async () => {
            begun += 1;
          },
          () => {},
        );
      }
    })();
    await sleep(50);
    expect(begun).toBe(15);
    end();
    await adding;
    await line.end();
    expect(begun).toBe(100);
  });

  test('that fails is not noted, nor what is behind it; what is before it is', async () => {
    const line = new InOrder(3);
    const noted: string[] = [];
    await line.add(
      () => sleep(20),
      () => noted.push('before'),
    );
    await line.add(
      () => Promise.reject(new Error('no')),
      () => noted.push('failed'),
    );
    await line
      .add(
        () => sleep(1),
        () => noted.push('behind'),
      )
      .catch(() => {});
    await expect(line.end()).rejects.toThrow('no');
    expect(noted).toEqual(['before']);
    await expect(
      line.add(
        async () => {},
        () => noted.push('later'),
      ),
    ).rejects.toThrow('no');
  });
});

describe('a pace', () => {
  test.each([
    { rate: 100, takes: 30, count: 1 },
    { rate: 1_000, takes: 30, count: 10 },
  ])('of $rate a second lets $takes times $count through no faster', async ({ rate, takes, count }) => {
    const pace = new Pace(rate);
    const began = performance.now();
    // At once, as several do who share it.
    await Promise.all(Array.from({ length: takes }, () => pace.take(count, never)));
    const seconds = (performance.now() - began) / 1000;
    expect(seconds).toBeGreaterThanOrEqual((takes * count - pace.burst) / rate - 0.005);
  });

  test('does not save up what was not used', async () => {
    const pace = new Pace(50);
    await sleep(500);
    const began = performance.now();
    for (let index = 0; index < 15; index += 1) await pace.take(1, never);
    expect((performance.now() - began) / 1000).toBeGreaterThanOrEqual(10 / 50 - 0.005);
  });

  test('ends its waits with the signal', async () => {
    const pace = new Pace(1);
    const controller = new AbortController();
    await pace.take(1, never);
    const waiting = pace.take(1, controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });
});

test('done objects are known again from their text, and no others', () => {
  const done = new DoneObjects();
  for (let index = 0; index < 1_000; index += 1) done.add(`event=shop.updated/${index}`);
  const again = new DoneObjects(done.text());
  expect(again.size).toBe(1_000);
  expect(again.has('event=shop.updated/999')).toBe(true);
  expect(again.has('event=shop.updated/1000')).toBe(false);
});
