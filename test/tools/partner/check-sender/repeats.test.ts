import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { Attempt, Delivery, End, Ending } from '../../../../tools/partner/check-sender/deliveries.ts';
import {
  FIRST_WAIT_SECONDS,
  repeatFindings,
  repeatReport,
} from '../../../../tools/partner/check-sender/repeats.ts';

/** Seconds that each request takes. */
const ANSWERED_AFTER = 20;

/** A request that failed, and the seconds until the next one. */
interface Failure {
  readonly wait: number;
  /** @default 500 */
  readonly how?: Ending;
  readonly retryAfterSeconds?: number;
}

const failures = (...waits: number[]): Failure[] => waits.map((wait) => ({ wait }));

function delivery(failed: readonly Failure[]): Delivery {
  const attempts: Attempt[] = [];
  let at = 0;
  for (const { wait, how = 500, ...rest } of [...failed, { wait: 0, how: 200 }]) {
    const end: End = { how, at: at + ANSWERED_AFTER * 1_000, ...rest };
    attempts.push({
      at,
      status: 200,
      end,
      connection: 1,
      isReused: true,
      isSameBytes: true,
      isSameSignature: true,
    });
    at = end.at + wait * 1_000;
  }
  return { number: 1, eventId: 'x', event: undefined, attempts, count: attempts.length, corrects: 0 };
}

/** Of each repeat the grades and kinds, but for the note that it is one. */
const judged = (repeated: Delivery) =>
  repeated.attempts.slice(1).map((attempt) =>
    repeatFindings(repeated, attempt)
      .filter(({ kind }) => kind !== 'repeat')
      .map(({ grade, kind }) => `${grade} ${kind}`),
  );

const EARLY = 'risky repeat-early';
const SOONER = 'wrong repeat-sooner';
const STEADY = 'risky repeat-steady';

describe('the waits of a sender', () => {
  const cuts = failures(1.7, 0.9, 0.7).map((failure) => ({ ...failure, how: 'cut' as const }));
  const clientRepeat: Failure[] = [{ wait: 10 }, { wait: 0.01, how: 'cut' }, { wait: 20 }];
  const longer: Failure[] = [{ wait: 60, retryAfterSeconds: 60 }, { wait: 10 }, { wait: 20 }];
  const tooShort: Failure[] = [{ wait: 10 }, { wait: 20, retryAfterSeconds: 60 }, { wait: 20 }];
  const IGNORED = 'wrong retry-after-ignored';

  test.each([
    { what: 'as asked for', failed: failures(10, 20, 40), findings: [[], [], []], backOff: 'growing' },
    {
      what: 'moved by a quarter',
      failed: failures(12.5, 15, 50),
      findings: [[], [], []],
      backOff: 'growing',
    },
    // Waits of an hour need not grow.
    { what: 'of an hour', failed: failures(3_600, 2_700), findings: [[], []], backOff: 'growing' },
    { what: 'that shrink', failed: failures(1.7, 0.9), findings: [[EARLY], [SOONER]], backOff: 'shrinking' },
    {
      what: 'that grew',
      failed: failures(10, 20, 5, 80),
      findings: [[], [], [SOONER], []],
      backOff: 'shrinking',
    },
    { what: 'that do not grow', failed: failures(10, 10), findings: [[], [STEADY]], backOff: 'steady' },
    { what: 'nearly equal', failed: failures(12.5, 7.5), findings: [[], [STEADY]], backOff: 'steady' },
    { what: 'of a fast test', failed: failures(1, 2, 4), findings: [[EARLY], [], []], backOff: 'growing' },
    {
      what: 'too short to compare',
      failed: failures(0.04, 0.02),
      findings: [[EARLY], []],
      backOff: undefined,
    },
    { what: 'after cuts', failed: cuts, findings: [[], [SOONER], [SOONER]], backOff: 'shrinking' },
    {
      what: 'with a repeat of the HTTP client',
      failed: clientRepeat,
      findings: [[], [], []],
      backOff: 'growing',
    },
    { what: 'that Retry-After asked for', failed: longer, findings: [[], [], []], backOff: 'growing' },
    { what: 'shorter than Retry-After', failed: tooShort, findings: [[], [IGNORED], []], backOff: 'growing' },
  ])('$what', ({ failed, findings, backOff }) => {
    const repeated = delivery([...failed]);
    expect(judged(repeated)).toEqual(findings);
    expect(repeatReport(repeated)).toMatchObject({
      backOff,
      waits: failed.map(({ wait }) => Math.round(wait * 1_000)),
    });
  });

  test('are asked for as docs/partner.md asks for them', () => {
    expect(readFileSync('docs/partner.md', 'utf8')).toContain(
      `After a failure wait ${FIRST_WAIT_SECONDS} s,`,
    );
    const repeated = delivery(failures(1));
    expect(repeatFindings(repeated, repeated.attempts[1] as Attempt)).toContainEqual(
      expect.objectContaining({
        remedy: expect.stringContaining(`Wait ${FIRST_WAIT_SECONDS} s before the first repeat`),
      }),
    );
  });
});
