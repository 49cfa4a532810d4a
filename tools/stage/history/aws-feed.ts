import { setTimeout as sleep } from 'node:timers/promises';
import { FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { type EventName, isEventName } from '../../../lambda/contract/catalogue.ts';
import { sha256Hex } from '../../../lambda/hash.ts';
import { CommandError } from '../../terminal/command-error.ts';
import type { ProgressDisplay } from '../../terminal/progress.ts';
import { readArchive } from '../archive/reader.ts';
import { type FunctionName, followLogs } from '../logs/follow.ts';
import { waitingQueue } from '../queues/queue.ts';
import { type WaitingMessage, waitingMessages } from '../queues/waiting-messages.ts';
import type { Stage } from '../stage.ts';
import { refusalOf } from '../work.ts';
import { type CrashFact, type DeadLetterFact, type Fact, type LineFact, recordFact } from './facts.ts';
import { fold } from './fold.ts';
import type { Step } from './history.ts';
import { parseCrash, parseLogLine } from './log-line.ts';
import { inPattern, type LogsSearched, lineFact, queryLines, type Window } from './log-query.ts';
import { isOf, LINE_TO_RECORD } from './messages.ts';
import { type IdKind, type Ids, kindOf, type TraceId } from './trace-id.ts';

/** Events from which on more of them help nobody to choose. */
const MAXIMUM_CANDIDATES = 10;

/**
 * Milliseconds in which a record may not be readable yet: Firehose collects for 900 s at most, and a batch may take
 * as long until it is archived.
 */
const ARCHIVE_BEHIND = 30 * 60 * 1000;

/** Lines of which the archive has a record. */
const SETTLED = ['Processed', 'Stale', 'Duplicate', 'DeadLettered'];

/**
 * What Lambda writes of an invocation that failed, timed out or crashed, and what its runtime writes of an error that ended
 * one. Sources: Lambda developer guide, "Configuring JSON and plain text log formats"; Lambda telemetry API reference,
 * `platform.report`.
 */
const CRASHED =
  '{ ($.type = "platform.report" && $.record.status != "success") || $.message.errorType = "*" }';

/** Pages of crash lines that are read: a consumer that crashes all day writes thousands. */
const MAXIMUM_CRASH_PAGES = 20;

/** Milliseconds after its receipt in which a first attempt is usual: no crashes are looked for. */
const USUAL_WAIT = 1_000;

/** Milliseconds between two looks at which objects there are: Firehose writes one in some minutes. */
const ARCHIVE_INTERVAL = { aws: 60_000, local: 2_000 };

/** What one look at the archive reads at most, from the newest object on. Each object is a call. */
const LOOK_LIMITS = { objects: 200, bytes: 64 * 1024 * 1024 };

/** What was looked through, and what may not be read. */
export interface Sources {
  /** `refused`: why the logs could not be read. */
  readonly logs: LogsSearched & { readonly refused?: string };
  /** Absent if there was no reason to look. */
  readonly archive?: ArchiveSearched;
  /** Queues that wait for a person: absent if there was no reason to look. */
  readonly queues?: { readonly complete: boolean; readonly refused?: string };
  /** Why crashes of the consumer could not be looked for. */
  readonly crashes?: { readonly refused: string };
}

export interface ArchiveSearched {
  /** `early`: a record may not be there yet. `none`: the stage keeps no archive. */
  readonly state: 'searched' | 'early' | 'none' | 'refused';
  /** Why it may not be read. */
  readonly reason?: string;
  readonly objects: number;
  readonly records: number;
  /** Objects that could not be read to their end, and why. */
  readonly damaged: readonly string[];
}

/** All facts of one event, and how they were found. */
export interface FoundFacts {
  readonly eventId: string;
  readonly idIs: IdKind;
  readonly facts: readonly Fact[];
  readonly sources: Sources;
}

export interface FindOptions {
  readonly window: Window;
  readonly signal: AbortSignal;
  readonly progress?: ProgressDisplay;
}

/** An event that an id may stand for. */
interface Candidate {
  readonly eventId: string;
  readonly event: string | undefined;
  readonly kind: IdKind;
  /** Whether it is the whole id. */
  readonly isWhole: boolean;
  /** Epoch milliseconds: one of its times. */
  readonly at: number;
}

interface FoundRecord {
  readonly record: ArchiveRecord;
  readonly object: string;
}

interface FoundRecords {
  readonly records: readonly FoundRecord[];
  readonly searched: ArchiveSearched;
}

/**
 * Finds the facts of one event by any of its ids: in the logs, then in the archive, then on the queues that wait for a
 * person. What may not be read is named in the sources.
 * @returns undefined if it was interrupted
 * @throws CommandError if nothing, or more than one event, is found by the id
 */
export async function findFacts(
  stage: Stage,
  id: TraceId,
  options: FindOptions,
): Promise<FoundFacts | undefined> {
  const { window, signal } = options;
  const logs = new LogSearch(stage, window, signal);
  let lines = await logs.find(idsPattern(id));
  let known = onlyOne(id, candidatesOfLines(id, lines));
  let archive: FoundRecords | undefined;
  if (known === undefined && !signal.aborted) {
    archive = await searchArchive(stage, (record) => kindOf(id, record) !== undefined, options);
    known = onlyOne(id, candidatesOfRecords(id, archive.records));
  }
  let queues: Sources['queues'];
  const waiting: WaitingMessage[] = [];
  if (known === undefined && !signal.aborted) {
    const looked = await orRefusal(stage, () =>
      waitingMessages(stage, (message) => kindOf(id, message) !== undefined, signal),
    );
    queues = 'refused' in looked ? { complete: false, ...looked } : { complete: looked.complete };
    if (!('refused' in looked)) waiting.push(...looked.messages);
    known = onlyOne(
      id,
      waiting.flatMap((one) => candidateOf(id, one, one.message.sentAt.getTime())),
    );
  }
  if (signal.aborted) return undefined;
  const searched = () => ({
    logs: logs.searched,
    ...(archive && { archive: archive.searched }),
    ...(queues && { queues }),
  });
  if (known === undefined) throw unknown(id, searched(), window);

  const { eventId, kind } = known;
  // By another id only its own delivery is found.
  if (kind !== 'eventId') lines = await logs.find(`"eventId":"${eventId}`);
  if (archive === undefined) {
    archive = await recordsOfLines(stage, lines, options);
  } else if (kind !== 'eventId') {
    // Its other deliveries and its replays have other ids, and no body.
    archive = await searchArchive(stage, (record) => record.eventId === eventId, options);
  }
  const facts: Fact[] = [
    ...lines.filter((line) => line.eventId === eventId),
    ...(archive?.records ?? []).map(({ record, object }) => recordFact(record, object)),
    ...waiting.map((message) => waitingFact(message)),
  ];
  const unlogged = await unloggedFacts(stage, facts, signal);
  if (signal.aborted) return undefined;
  // A dead letter that was found twice has more facts the second time.
  const again = new Set(unlogged.facts.map((fact) => fact.kind === 'dead-letter' && fact.messageId));
  return {
    eventId,
    idIs: kind,
    facts: [
      ...facts.filter((fact) => fact.kind !== 'dead-letter' || !again.has(fact.messageId)),
      ...unlogged.facts,
    ],
    sources: { ...searched(), ...unlogged.sources },
  };
}

/**
 * What neither lines nor records say of an event: the dead letters of it that SQS moved, and crashes of its consumer. It
 * looks only if an attempt is missing.
 * @param facts all that are known of the event
 */
export async function unloggedFacts(
  stage: Stage,
  facts: readonly Fact[],
  signal: AbortSignal,
): Promise<{ readonly facts: Fact[]; readonly sources: Pick<Sources, 'queues' | 'crashes'> }> {
  const { event, eventId, steps, now } = fold(facts);
  const found: Fact[] = [];
  let sources: Pick<Sources, 'queues' | 'crashes'> = {};
  if (event === undefined || eventId === undefined || !isEventName(event)) return { facts: found, sources };
  if (now.some(({ state }) => ['queued', 'retrying', 'dead-letter'].includes(state))) {
    const looked = await orRefusal(stage, () => deadLetterFacts(stage, event, eventId, signal));
    if ('refused' in looked) sources = { queues: { complete: false, ...looked } };
    else sources = { queues: { complete: looked.complete } };
    if (!('refused' in looked)) found.push(...looked.facts);
  }
  for (const silence of silencesOf(event, steps)) {
    const crashes = await orRefusal(stage, () => crashesIn(stage, event, silence, signal));
    if ('refused' in crashes) sources = { ...sources, crashes };
    else found.push(...crashes);
  }
  return { facts: found, sources };
}

/** What {@link followFacts} has found since its last batch. */
export interface FactBatch {
  readonly facts: readonly Fact[];
  /** What the partner sent, by the id of its request, as far as the records have it. */
  readonly payloads: ReadonlyMap<string, Uint8Array>;
}

export interface FollowFactsOptions {
  readonly since: Date;
  readonly signal: AbortSignal;
  /** Told once why a function's log or the archive cannot be read, and with undefined once it can be read again. */
  readonly onProblem: (source: FunctionName | 'archive', error: Error | undefined) => void;
}

/** Facts as the stage logs and archives them, until the signal is aborted. A fact may come twice. */
export function followFacts(stage: Stage, options: FollowFactsOptions): AsyncGenerator<FactBatch> {
  return merged([followLines(stage, options), ...(stage.hasArchive ? [followArchive(stage, options)] : [])]);
}

async function* followLines(
  stage: Stage,
  { since, signal, onProblem }: FollowFactsOptions,
): AsyncGenerator<FactBatch> {
  const unreadable = new Set<FunctionName>();
  const following = followLogs(stage, {
    since,
    signal,
    onProblem: (name, error) => {
      unreadable.add(name);
      onProblem(name, error);
    },
  });
  for await (const lines of following) {
    // A log that has lines is read again.
    for (const { function: name } of lines) if (unreadable.delete(name)) onProblem(name, undefined);
    yield { facts: lines.flatMap(({ text }) => lineFact(text) ?? []), payloads: new Map() };
  }
}

/** Records and payloads as the archive gets them, until the signal is aborted. */
export async function* followArchive(
  stage: Stage,
  {
    since,
    signal,
    onProblem,
  }: Omit<FollowFactsOptions, 'onProblem'> & {
    readonly onProblem: (source: 'archive', error: Error | undefined) => void;
  },
): AsyncGenerator<FactBatch> {
  const read = new Set<string>();
  let isUnreadable = false;
  while (!signal.aborted) {
    const facts: Fact[] = [];
    const payloads = new Map<string, Uint8Array>();
    try {
      await readRecords(stage, { window: { since }, limits: LOOK_LIMITS, skip: read, signal }, (found) => {
        const { record, object } = found;
        if (Date.parse(record.settledAt) < since.getTime()) return;
        facts.push(recordFact(record, object));
        if (record.requestId !== undefined && record.body !== undefined) {
          payloads.set(record.requestId, bytesAsSent(record.body, record.eventId));
        }
      });
      if (isUnreadable) onProblem('archive', undefined);
      isUnreadable = false;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (!isUnreadable && !signal.aborted) onProblem('archive', error);
      isUnreadable = true;
    }
    if (facts.length > 0) yield { facts, payloads };
    await sleep(stage.local ? ARCHIVE_INTERVAL.local : ARCHIVE_INTERVAL.aws, undefined, { signal }).catch(
      () => {},
    );
  }
}

async function* merged<Item>(sources: readonly AsyncGenerator<Item>[]): AsyncGenerator<Item> {
  const nextOf = async (source: AsyncGenerator<Item>) => ({ source, result: await source.next() });
  const pending = new Map(sources.map((source) => [source, nextOf(source)]));
  while (pending.size > 0) {
    const { source, result } = await Promise.race(pending.values());
    if (result.done) {
      pending.delete(source);
    } else {
      pending.set(source, nextOf(source));
      yield result.value;
    }
  }
}

/** The logs of a window, asked once or twice. */
export class LogSearch {
  searched: Sources['logs'];
  readonly #stage: Stage;
  readonly #window: Window;
  readonly #signal: AbortSignal;

  constructor(stage: Stage, window: Window, signal: AbortSignal) {
    this.#stage = stage;
    this.#window = window;
    this.#signal = signal;
    const times = { since: window.since.toISOString(), until: window.until.toISOString() };
    this.searched = { ...times, lines: 0, bytesScanned: 0, truncated: false };
  }

  /** @returns no lines if the logs may not be read, or if there is nothing to look for */
  async find(pattern: string | undefined): Promise<LineFact[]> {
    if (pattern === undefined || this.searched.refused !== undefined || this.#signal.aborted) return [];
    const answer = await orRefusal(this.#stage, () =>
      queryLines(this.#stage, pattern, this.#window, this.#signal),
    );
    if (answer === undefined) return [];
    if ('refused' in answer) {
      this.searched = { ...this.searched, refused: answer.refused };
      return [];
    }
    const bytesScanned = this.searched.bytesScanned + answer.searched.bytesScanned;
    this.searched = { ...answer.searched, bytesScanned };
    return answer.facts;
  }
}

/** What the logs are searched for; undefined if nothing in them can be meant. */
function idsPattern({ prefix, eventIdPrefix }: TraceId): string | undefined {
  if (prefix === undefined) return undefined;
  const text = inPattern(prefix);
  return [
    ...(eventIdPrefix === undefined ? [] : [`"eventId":"${eventIdPrefix}`]),
    `"requestId":"${text}`,
    `"messageId":"${text}`,
  ].join('|');
}

interface Reading {
  readonly window: { readonly since?: Date; readonly until?: Date };
  readonly signal: AbortSignal;
  readonly events?: readonly EventName[] | undefined;
  readonly limits?: typeof LOOK_LIMITS;
  /** Keys of objects that are left out; those that were read are added. */
  readonly skip?: Set<string>;
  readonly progress?: ProgressDisplay;
}

/**
 * Reads the archive from the newest hour on.
 * @param visit returns true once it has enough
 * @returns what was read, and the key of the newest object that was not
 */
export async function readRecords(
  stage: Stage,
  { window, skip = new Set(), ...options }: Reading,
  visit: (found: FoundRecord) => unknown,
): Promise<Omit<ArchiveSearched, 'state'> & { readonly unread?: string }> {
  const reading = readArchive(stage, {
    ...options,
    ...window,
    order: 'newest-first',
    skip: (key) => skip.has(key),
    doing: 'Reading the archive',
  });
  for await (const object of reading) {
    let isEnough = false;
    for await (const { record } of object.records()) {
      if (visit({ record, object: object.key }) === true) isEnough = true;
    }
    if (object.isRead) skip.add(object.key);
    if (isEnough) break;
  }
  const { objects, records, damaged, unread } = reading;
  return {
    objects,
    records,
    damaged: damaged.map(({ message }) => message),
    ...(unread !== undefined && { unread: unread.key }),
  };
}

/** The records of a window that fit, until they are of too many events. */
async function searchArchive(
  stage: Stage,
  fits: (record: ArchiveRecord) => boolean,
  { window, ...options }: FindOptions,
): Promise<FoundRecords> {
  const eventIds = new Set<string>();
  return foundRecords(stage, { window, ...options }, ({ record }, keep) => {
    const at = Date.parse(record.settledAt);
    if (at < window.since.getTime() || at >= window.until.getTime() || !fits(record)) return false;
    keep();
    return eventIds.add(record.eventId).size > MAXIMUM_CANDIDATES;
  });
}

/** The records that belong to lines: only the objects around their times are read, and no more than it takes. */
async function recordsOfLines(
  stage: Stage,
  lines: readonly LineFact[],
  { signal }: FindOptions,
): Promise<FoundRecords | undefined> {
  const settled = lines.flatMap(({ text }) => {
    const line = parseLogLine(text);
    return line !== undefined && SETTLED.includes(line.message) ? [line] : [];
  });
  const event = settled.find((line) => line.event !== undefined)?.event;
  if (event === undefined || !isEventName(event)) return undefined;
  const times = settled.map(({ at }) => at);
  const window = {
    since: new Date(Math.min(...times) - LINE_TO_RECORD),
    until: new Date(Math.max(...times) + LINE_TO_RECORD),
  };
  const missing = new Set(settled);
  const found = await foundRecords(stage, { window, events: [event], signal }, (one, keep) => {
    if (one.record.eventId !== settled[0]?.eventId) return false;
    keep();
    const fact = recordFact(one.record, one.object);
    for (const line of missing) if (isOf(fact, line)) missing.delete(line);
    return missing.size === 0;
  });
  const isEarly = [...missing].some(({ at }) => Date.now() - at < ARCHIVE_BEHIND);
  const { searched } = found;
  return searched.state === 'searched' && isEarly
    ? { ...found, searched: { ...searched, state: 'early' } }
    : found;
}

async function foundRecords(
  stage: Stage,
  reading: Reading,
  visit: (found: FoundRecord, keep: () => void) => boolean,
): Promise<FoundRecords> {
  const records: FoundRecord[] = [];
  if (!stage.hasArchive) {
    return { records, searched: { state: 'none', objects: 0, records: 0, damaged: [] } };
  }
  const read = await orRefusal(stage, () =>
    readRecords(stage, reading, (found) => visit(found, () => records.push(found))),
  );
  if (!('refused' in read)) {
    const { unread: _, ...searched } = read;
    return { records, searched: { state: 'searched', ...searched } };
  }
  const searched = { state: 'refused', reason: read.refused, objects: 0, records: 0, damaged: [] } as const;
  return { records, searched };
}

/**
 * The bytes of a text that the archive and the queues keep with two characters escaped, which SQS does not take
 * (decision D14).
 */
export function bytesAsSent(body: string, eventId: string): Buffer {
  const kept = Buffer.from(body);
  if (sha256Hex(kept) === eventId) return kept;
  const unescaped = body.replace(/\\u(fff[ef])/g, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  const sent = Buffer.from(unescaped);
  return sha256Hex(sent) === eventId ? sent : kept;
}

async function deadLetterFacts(stage: Stage, event: EventName, eventId: string, signal: AbortSignal) {
  const { messages, complete } = await waitingMessages(
    stage,
    (message) => message.eventId === eventId,
    signal,
    [waitingQueue(stage, event)],
  );
  const isMoved = messages.some(({ failureReason }) => failureReason === undefined);
  const moved = isMoved ? await receivesOf(stage, stage.event(event).queueUrl) : undefined;
  const facts = messages.map((message) =>
    waitingFact(message, message.failureReason === undefined ? moved?.count : undefined),
  );
  return { facts, complete };
}

/** @param receives that its queue allows before SQS moves a message, if SQS moved it */
function waitingFact(waiting: WaitingMessage, receives?: number): DeadLetterFact {
  const { queue, message, messageId, requestId, eventId, event, failureReason, keptUntil } = waiting;
  return {
    kind: 'dead-letter',
    at: message.sentAt.getTime(),
    event,
    eventId,
    messageId,
    requestId,
    queue: queue.kind === 'dead-letter' ? undefined : queue.kind,
    error: failureReason,
    receives,
    until: keptUntil.toISOString(),
  };
}

/** A time in which a message was on its queue, and no attempt left a line. Epoch milliseconds. */
interface Silence {
  readonly since: number;
  readonly until: number;
  /** Whether an attempt is missing for certain; otherwise, the first one is late. */
  readonly isCertain: boolean;
}

function silencesOf(event: string, steps: readonly Step[]): Silence[] {
  return steps.flatMap(({ kind, queue, requestId, at }) => {
    if (kind !== 'queued' || queue !== event) return [];
    const attempts = steps.filter(
      (step) =>
        step.attempt !== undefined &&
        step.requestId === requestId &&
        step.kind !== 'archived' &&
        step.origin?.kind !== 'replay',
    );
    const seen = attempts.find(
      (step) => step.kind !== 'crashed' && !(step.kind === 'dead-lettered' && step.error === undefined),
    );
    const since = Date.parse(at);
    const until = seen === undefined ? Date.now() : Date.parse(seen.at);
    if (until - since < USUAL_WAIT) return [];
    return [{ since, until, isCertain: seen === undefined || attempts[0]?.kind === 'crashed' }];
  });
}

/** Crashes of a consumer. AWS does not log which messages an invocation had. */
async function crashesIn(
  stage: Stage,
  event: EventName,
  { since, until, isCertain }: Silence,
  signal: AbortSignal,
): Promise<CrashFact[]> {
  const { queueUrl, logGroup } = stage.event(event);
  // A late first attempt may be that of a message that was redriven: SQS had given the one before it up.
  const given = isCertain ? undefined : await receivesOf(stage, queueUrl);
  if (given !== undefined && until - since < (given.count - 1) * given.visibility) return [];
  const crashes = new Map<string, CrashFact>();
  let nextToken: string | undefined;
  for (let page = 0; page < MAXIMUM_CRASH_PAGES && !signal.aborted; page += 1) {
    const { events = [], nextToken: next } = await stage.logs.send(
      new FilterLogEventsCommand({
        logGroupName: logGroup,
        filterPattern: CRASHED,
        startTime: since,
        endTime: until,
        nextToken,
      }),
    );
    for (const { message = '' } of events) {
      const crash = parseCrash(message, event);
      if (crash !== undefined) crashes.set(crash.invocationId, crash);
    }
    nextToken = next;
    if (nextToken === undefined) break;
  }
  return given !== undefined && crashes.size < given.count ? [] : [...crashes.values()];
}

/** How often a queue gives a message before SQS moves it, and milliseconds between two times. */
async function receivesOf({ sqs }: Stage, QueueUrl: string): Promise<{ count: number; visibility: number }> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['RedrivePolicy', 'VisibilityTimeout'] }),
  );
  const { maxReceiveCount = Number.POSITIVE_INFINITY } = JSON.parse(Attributes.RedrivePolicy ?? '{}');
  return { count: Number(maxReceiveCount), visibility: Number(Attributes.VisibilityTimeout) * 1000 };
}

/** @returns why AWS refuses it, or what the stage lacks for it */
export async function orRefusal<Value>(
  { local }: Stage,
  ask: () => Promise<Value>,
): Promise<Value | { readonly refused: string }> {
  try {
    return await ask();
  } catch (error) {
    // An answer of a service has its name; otherwise, the network or the local stack is away, and nothing can be read.
    const isAnswer = error instanceof Error && '$fault' in error;
    if (!isAnswer && !(error instanceof CommandError)) throw error;
    return { refused: refusalOf(error, local) };
  }
}

function candidatesOfLines(id: TraceId, lines: readonly LineFact[]): Candidate[] {
  return lines.flatMap(({ text }) => {
    const line = parseLogLine(text);
    return line === undefined ? [] : candidateOf(id, line, line.at);
  });
}

const candidatesOfRecords = (id: TraceId, records: readonly FoundRecord[]): Candidate[] =>
  records.flatMap(({ record }) => candidateOf(id, record, Date.parse(record.settledAt)));

function candidateOf(
  id: TraceId,
  of: Ids & { readonly eventId: string; readonly event?: string | undefined },
  at: number,
): Candidate[] {
  const kind = kindOf(id, of);
  const isWhole = kind === 'webhookId' || (kind !== undefined && of[kind] === id.text);
  return kind === undefined ? [] : [{ eventId: of.eventId, event: of.event, kind, isWhole, at }];
}

/**
 * @returns undefined if there is none
 * @throws CommandError if there are several, which it lists
 */
function onlyOne({ text }: TraceId, candidates: readonly Candidate[]): Candidate | undefined {
  const whole = candidates.filter(({ isWhole }) => isWhole);
  const byEvent = Map.groupBy(whole.length > 0 ? whole : candidates, ({ eventId }) => eventId);
  const events = [...byEvent.values()].flatMap(
    (ofEvent) => ofEvent.find(({ event }) => event !== undefined) ?? ofEvent.slice(0, 1),
  );
  const [only, ...others] = events;
  if (only === undefined || others.length === 0) return only;
  const listed = events.slice(0, MAXIMUM_CANDIDATES).map(({ eventId, event, at }) => {
    return `${eventId} (${[event, new Date(at).toISOString()].filter(Boolean).join(', ')})`;
  });
  const more = events.length > listed.length ? ' and more' : '';
  throw new CommandError(`'${text}' matches several events. One of: ${listed.join(', ')}${more}`);
}

function unknown(
  { text, prefix }: TraceId,
  { logs, archive, queues }: Sources,
  { since, until }: Window,
): CommandError {
  const count = (number: number, noun: string) => `${number} ${number === 1 ? noun : `${noun}s`}`;
  const notSearched = [
    queues?.refused && `The queues could not be read: ${queues.refused}.`,
    queues?.complete === false && !queues.refused && 'Some messages on queues were not looked at.',
    logs.refused && `The logs could not be read: ${logs.refused}.`,
    prefix === undefined &&
      'The logs were not searched: only a whole webhookId can be so short, so long or have such characters, and logs have none.',
    archive?.state === 'refused' && `The archive could not be read: ${archive.reason}.`,
    archive?.state === 'none' && 'The stage keeps no archive, so nothing can be found by a webhookId.',
  ];
  const searched = [
    logs.refused === undefined &&
      prefix !== undefined &&
      (logs.since === logs.until
        ? 'in the logs, which do not reach back so far'
        : `in the logs since ${logs.since}`),
    archive?.state === 'searched' &&
      `in the archive since ${since.toISOString()} (${count(archive.records, 'record')} in ${count(archive.objects, 'object')}${archive.damaged.length > 0 ? `, ${archive.damaged.length} of them damaged` : ''})`,
    queues?.refused === undefined && 'on the queues that wait for a person',
  ].filter((part) => part !== false);
  return new CommandError(
    [
      `Nothing was found for '${text}'${searched.length > 0 ? ` ${searched.join(', ')}` : ''}, until ${until.toISOString()}.`,
      ...notSearched.filter((part) => typeof part === 'string'),
      'The request may never have arrived, or API Gateway answered it itself: see its access log. The archive has an event some minutes after its effect. --since and --until change the window.',
    ].join(' '),
  );
}
