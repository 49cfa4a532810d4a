import { styleText } from 'node:util';
import { lines, table } from '../../cli/terminal/layout.ts';
import { SHORT_ID_LENGTH } from '../../cli/terminal/terminal.ts';
import { counted } from '../../cli/terminal/text.ts';
import type { Ending } from './deliveries.ts';
import type { Diagnosis } from './diagnose.ts';
import type { Finding, Grade } from './finding.ts';
import { type RepeatReport, seconds } from './repeats.ts';
import { isRight, isRightInAll, type Summary, type Verdict } from './summary.ts';

type Style = Parameters<typeof styleText>[0];

/** Maximum number of findings shown per request. `--json` has all. */
const MAX_FINDINGS = 5;

/** Maximum number of deliveries whose repeats are shown one by one. */
const MAX_REPEATS = 20;

/** Maximum number of answers and waits shown per delivery. */
const MAX_SHOWN = 8;

/** Characters before a finding's sentence: `  wrong  `. */
const INDENT = 9;

const GRADES: Readonly<Record<Grade, { word: string; style: Style }>> = {
  wrong: { word: 'wrong', style: 'red' },
  risky: { word: 'risky', style: 'yellow' },
  fine: { word: 'note', style: 'dim' },
};

/** A verdict for people: the result of the request, and its findings below. */
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
  const { number, at, diagnosis, bytes, method, ending } = verdict;
  const { event, eventId } = diagnosis ?? {};
  const parts = [
    event ?? '',
    method === 'POST' ? '' : (method ?? ''),
    `${bytes.toLocaleString('en')} ${bytes === 1 ? 'byte' : 'bytes'}`,
    eventId === undefined ? '' : `event ${eventId.slice(0, SHORT_ID_LENGTH)}`,
    diagnosis !== undefined && isOther(verdict) ? `the service would answer ${statusText(diagnosis)}` : '',
  ];
  const { style, text } = stateOf(verdict);
  const status =
    diagnosis === undefined ? 'no request' : isOther(verdict) ? otherText(ending) : statusText(diagnosis);
  return [
    styleText(style, text.padEnd('✓ accepted'.length)),
    styleText('bold', status.padEnd('200 queued'.length)),
    styleText('dim', `#${number}  ${at.toISOString().slice(11, 19)}`),
    parts.filter((part) => part !== '').join(' · '),
  ].join('  ');
}

function stateOf(verdict: Verdict): { style: Style; text: string } {
  const { diagnosis, findings } = verdict;
  if (diagnosis === undefined) return { style: 'red', text: '✗ broken' };
  if (diagnosis.status !== 200) return { style: 'red', text: '✗ rejected' };
  // If another response was simulated, the sender did not learn that the event was accepted.
  const state = isOther(verdict) ? 'right' : 'accepted';
  if (!isRight(verdict)) return { style: 'red', text: isOther(verdict) ? '✗ wrong' : '✗ accepted' };
  return findings.some(({ grade }) => grade === 'risky')
    ? { style: 'yellow', text: `! ${state}` }
    : { style: 'green', text: `✓ ${state}` };
}

/** Whether another response was simulated, or the sender did not wait for the service's own. */
const isOther = ({ diagnosis, ending }: Verdict) => diagnosis !== undefined && ending !== diagnosis.status;

const statusText = ({ status, word }: Diagnosis) =>
  word === undefined ? String(status) : `${status} ${word}`;

const otherText = (ending: Ending) => (ending === 'gave up' ? 'no answer' : `${ending} simulated`);

function findingText({ grade, what, remedy, isNext = false }: Finding, width: number): string[] {
  const { word, style } = GRADES[grade];
  const room = Math.max(20, width - INDENT);
  const indented = (text: string, first: string) =>
    lines(text, room).map((line, index) => `${index === 0 ? first : ' '.repeat(INDENT)}${line}`);
  const label = `  ${styleText(style, word.padEnd(INDENT - 2))}`;
  if (grade === 'fine') return indented(what, label).map((line) => styleText('dim', line));
  return [
    ...indented(isNext ? `After you fix the signature: ${what}` : what, label),
    ...(remedy === undefined ? [] : indented(`→ ${remedy}`, ' '.repeat(INDENT))),
  ];
}

export function summaryText(summary: Summary, width: number): string[] {
  const { requests, accepted, mistakes, repeats, unrepeated } = summary;
  if (requests === 0) return ['No request arrived.'];
  const verdict = isRightInAll(summary)
    ? styleText('green', `✓ ${outcomeText(summary)}.`)
    : styleText('red', `✗ ${outcomeText(summary)}.`);
  const statuses = Object.entries(summary.statuses).map(
    ([status, count]) => `${status === 'none' ? 'no request' : status} ×${count.toLocaleString('en')}`,
  );
  return [
    `${verdict}  ${accepted.toLocaleString('en')} accepted · ${statuses.join(' · ')}`,
    ...(mistakes.length === 0 ? [] : ['', ...mistakeTable(summary, width)]),
    ...(repeats.length === 0 ? [] : ['', ...repeatTable(repeats, width)]),
    ...(unrepeated === 0
      ? []
      : [
          '',
          `${unrepeated === 1 ? '1 delivery' : `${unrepeated.toLocaleString('en')} deliveries`} should have been repeated after the last answer, but ${summary.isCut ? 'had not come again when the run ended' : 'never came again'}.`,
        ]),
  ];
}

/** Text such as `1 of 2 requests was wrong, and corrected later`. */
function outcomeText(summary: Summary): string {
  const { requests, right, corrected } = summary;
  const wrong = requests - right;
  const all = requests === 1 ? 'The request was' : `All ${requests.toLocaleString('en')} requests were`;
  const some = `${wrong.toLocaleString('en')} of ${counted(requests, 'request')} ${wrong === 1 ? 'was' : 'were'}`;
  const later = corrected === wrong ? 'corrected' : `${corrected.toLocaleString('en')} of them corrected`;
  return [
    wrong === 0 ? `${all} right` : `${some} wrong`,
    ...(corrected === 0 ? [] : [`${later} later`]),
    ...(corrected === wrong && !isRightInAll(summary) ? ['not always repeated when required'] : []),
  ].join(', and ');
}

function mistakeTable({ mistakes }: Summary, width: number): string[] {
  return table(
    [
      { heading: 'Times', align: 'right' },
      { heading: 'Grade' },
      { heading: 'Requests' },
      { heading: 'What' },
    ],
    mistakes.map(({ count, grade, what, requests }) => {
      const numbers = requests.map((number) => `#${number}`);
      const word = styleText(GRADES[grade].style, GRADES[grade].word);
      return [count.toLocaleString('en'), word, listed(numbers, count), what];
    }),
    width,
  );
}

function repeatTable(repeats: readonly RepeatReport[], width: number): string[] {
  const shown = repeats.slice(0, MAX_REPEATS);
  const rows = shown.map((report) => [
    String(report.delivery),
    listed(report.endings.map((ending) => String(ending ?? 'no answer yet'))),
    `${listed(report.waits.map(seconds))}${report.backOff === undefined ? '' : `: ${report.backOff}`}`,
    report.isSameBytes ? 'same' : styleText('yellow', 'changed'),
    report.isSameSignature ? 'same' : 'changed',
    report.reused === 0
      ? 'new each time'
      : `${report.reused.toLocaleString('en')} of ${report.requests.toLocaleString('en')} kept alive`,
  ]);
  const columns = ['Delivery', 'Answers', 'Waits', 'Bytes', 'Signature', 'Connection'];
  return [
    ...table(
      columns.map((heading) => ({ heading })),
      rows,
      width,
    ),
    ...(repeats.length > shown.length ? [`and ${repeats.length - shown.length} more: --json shows all`] : []),
  ];
}

/** @param count total number, if `words` is only a part */
function listed(words: readonly string[], count = words.length): string {
  const shown = words.slice(0, MAX_SHOWN);
  return [...shown, ...(count > shown.length ? [`… ${count - shown.length} more`] : [])].join(', ');
}

/** The same as {@link verdictText} for programs: one line of JSON. */
export function verdictJson(verdict: Verdict): string {
  const { number, at, diagnosis, milliseconds, delivery, method, bytes, ending, connection } = verdict;
  const { status, word, event, eventId } = diagnosis ?? {};
  return JSON.stringify({
    request: number,
    at: at.toISOString(),
    isRight: isRight(verdict),
    ...{ status, word, event, eventId, method, bytes, ending },
    milliseconds: Math.round(milliseconds),
    connection,
    isReused: verdict.isReused,
    delivery: delivery?.number,
    attempt: delivery?.attempt,
    corrects: delivery?.corrects,
    findings: verdict.findings,
  });
}
