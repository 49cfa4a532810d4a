import type { Ending } from './deliveries.ts';
import type { Diagnosis } from './diagnose.ts';
import type { Finding } from './finding.ts';

/** What is to be said of one request, or of a connection that carried none. */
export interface Verdict {
  /** Counted from 1, in the order in which they came. */
  readonly number: number;
  readonly at: Date;
  /** A method that HTTP knows; undefined where there was no request. */
  readonly method: string | undefined;
  /** Bytes of the body, as far as they came. */
  readonly bytes: number;
  /** Undefined where the request never was complete. */
  readonly diagnosis: Diagnosis | undefined;
  /** What was done in the end: differs from the diagnosis where something was played. */
  readonly ending: Ending;
  /** From the beginning of the request to the end of its answer. */
  readonly milliseconds: number;
  readonly connection: number;
  readonly isReused: boolean;
  /** Which request of which delivery it is; undefined where it did not reach the receiver. */
  readonly delivery:
    | {
        readonly number: number;
        readonly attempt: number;
        /** Requests that the service refused, and that this accepted one corrects. */
        readonly corrects: number;
      }
    | undefined;
  readonly findings: readonly Finding[];
}

/** Whether nothing is wrong with it: something risky may be. */
export const isRight = ({ findings }: Pick<Verdict, 'findings'>) =>
  findings.every(({ grade }) => grade !== 'wrong');
