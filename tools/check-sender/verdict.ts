import { styleText } from 'node:util';
import { lines } from '../terminal/layout.ts';
import { SHORT_ID_LENGTH } from '../terminal/terminal.ts';
import type { Diagnosis } from './diagnose.ts';
import type { Finding, Grade } from './finding.ts';
import type { AttemptEnding } from './sent-deliveries.ts';

/** The verdict on one request, or on a connection without a complete request, which has no status. */
export interface Verdict extends Partial<Diagnosis> {
  readonly request: number;
  readonly at: Date;
  /** HTTP method, if it is a standard method. Undefined without a complete request. */
  readonly method?: string;
  /** Number of bytes of the body that arrived. */
  readonly bytes: number;
  /** How the request ended. Differs from `status` if another answer was simulated. */
  readonly ending: AttemptEnding;
  readonly milliseconds: number;
  readonly connection: number;
  readonly isReused: boolean;
  /** Number of the delivery. Undefined if the request did not reach the receiver. */
  readonly delivery?: number;
  /** Number of the request within the delivery. */
  readonly attempt?: number;
  /** Number of rejected requests that this accepted request corrects. */
  readonly corrects?: number;
  readonly findings: readonly Finding[];
}

/** Whether nothing in the request is wrong. Something may be risky. */
export const isRight = ({ findings }: Pick<Verdict, 'findings'>) =>
  findings.every(({ grade }) => grade !== 'wrong');

/** Maximum number of findings shown per request. `--json` prints all. */
const MAX_FINDINGS = 5;
/** Number of characters before the text of a finding: ` wrong `. */
const INDENT = 9;

type TextStyle = Parameters<typeof styleText>[0];

const GRADES: Readonly<Record<Grade, { readonly word: string; readonly style: TextStyle }>> = {
  wrong: { word: 'wrong', style: 'red' },
  risky: { word: 'risky', style: 'yellow' },
  fine: { word: 'note', style: 'dim' },
};

/** A verdict for people: the result in one line, and its findings below. */
export function verdictText(verdict: Verdict, width: number): string[] {
  const shown = verdict.findings.slice(0, MAX_FINDINGS);
  const more = verdict.findings.length - shown.length;
  return [
    headline(verdict),
    ...shown.flatMap((finding) => findingText(finding, width)),
    ...(more > 0 ? [`${' '.repeat(INDENT)}and ${more} more: --json shows all`] : []),
  ];
}

function headline(verdict: Verdict): string {
  const { request, at, status, event, eventId, bytes, method = '', ending } = verdict;
  const own = verdict.word === undefined ? String(status) : `${status} ${verdict.word}`;
  const parts = [
    event ?? '',
    method === 'POST' ? '' : method,
    `${bytes.toLocaleString('en')} ${bytes === 1 ? 'byte' : 'bytes'}`,
    eventId === undefined ? '' : `event ${eventId.slice(0, SHORT_ID_LENGTH)}`,
    isOther(verdict) ? `the service would answer ${own}` : '',
  ];
  const sent = isOther(verdict) ? (ending === 'gave up' ? 'no answer' : `${ending} simulated`) : own;
  const { style, text } = stateOf(verdict);
  return [
    styleText(style, text.padEnd('✓ accepted'.length)),
    styleText('bold', (status === undefined ? 'no request' : sent).padEnd('200 queued'.length)),
    styleText('dim', `#${request}  ${at.toISOString().slice(11, 19)}`),
    parts.filter((part) => part !== '').join(' · '),
  ].join('  ');
}

function stateOf(verdict: Verdict): { style: TextStyle; text: string } {
  const { status, findings } = verdict;
  if (status === undefined) return { style: 'red', text: '✗ broken' };
  if (status !== 200) return { style: 'red', text: '✗ rejected' };
  // If another answer was simulated, the sender does not know that the event is accepted.
  if (!isRight(verdict)) return { style: 'red', text: isOther(verdict) ? '✗ wrong' : '✗ accepted' };
  const isRisky = findings.some(({ grade }) => grade === 'risky');
  const state = isOther(verdict) ? 'right' : 'accepted';
  return isRisky ? { style: 'yellow', text: `! ${state}` } : { style: 'green', text: `✓ ${state}` };
}

/** Whether the sender got another answer than the service's own, or none. */
const isOther = ({ status, ending }: Verdict) => status !== undefined && ending !== status;

function findingText({ grade, what, remedy, isNext = false }: Finding, width: number): string[] {
  if (grade === 'fine') return gradedText(grade, what, width).map((line) => styleText('dim', line));
  const all = gradedText(grade, isNext ? `After you fix the signature: ${what}` : what, width);
  return remedy === undefined ? all : [...all, ...indented(`→ ${remedy}`, width)];
}

/** A text after its grade, such as `wrong`. */
export function gradedText(grade: Grade, text: string, width: number): string[] {
  const { word, style } = GRADES[grade];
  const [first = '', ...others] = indented(text, width);
  return [`  ${styleText(style, word.padEnd(INDENT - 2))}${first.trimStart()}`, ...others];
}

const indented = (text: string, width: number) =>
  lines(text, Math.max(20, width - INDENT)).map((line) => `${' '.repeat(INDENT)}${line}`);

/** A verdict for programs, as one line of JSON. */
export function verdictJson(verdict: Verdict): string {
  return JSON.stringify({ isRight: isRight(verdict), ...verdict });
}
