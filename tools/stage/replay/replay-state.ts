import { GetObjectCommand, NoSuchKey, PutObjectCommand } from '@aws-sdk/client-s3';
import * as z from 'zod/mini';
import type { SettledOutcome } from '../../../lambda/archive/record.ts';
import { settledOutcomes } from '../../../lambda/archive/record-schema.ts';
import { type EventName, isEventName } from '../../../lambda/events/catalogue.ts';
import { REPLAY_NAME, replayModes } from '../../../lambda/queue/replay.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { jsonOf } from '../history/json.ts';
import type { Stage } from '../stage.ts';
import { DEFAULT_RATE } from './limits.ts';

const event = z.custom<EventName>((value) => typeof value === 'string' && isEventName(value));
const outcome = z.custom<SettledOutcome>((value) => settledOutcomes.some((known) => known === value));
const count = z.number();

const schema = z.object({
  name: z.string().check(z.regex(REPLAY_NAME)),
  mode: z.enum(replayModes),
  notify: z.boolean(),
  /** Selects the records. The window is stored as absolute times, even if it was typed as a duration. */
  filter: z.object({
    events: z.array(event),
    since: z.string(),
    until: z.string(),
    shop: z.optional(z.string()),
    ids: z.optional(z.array(z.string())),
    outcomes: z.optional(z.array(outcome)),
  }),
  /** The window as typed, to recognise it on resume. */
  typed: z.object({ since: z.string(), until: z.optional(z.string()) }),
  /** ARN of the person who started it. */
  by: z.string(),
  startedAt: z.string(),
  /** Messages a second of the last run. Earlier versions did not store it. */
  rate: z._default(count, DEFAULT_RATE),
  /** Number of messages in the plan. */
  planned: count,
  /**
   * Unfinished objects by key. Their lines up to `line` are settled, except those in `left`. Earlier versions had none.
   */
  begun: z._default(z.record(z.string(), z.object({ line: count, left: z.array(count) })), {}),
  /** Hashes of the keys of finished objects, without those in the separate object. */
  done: z.string(),
  /** Number of messages sent, by event. */
  sent: z.record(z.string(), count),
  /** Records that are not sent, by reason. Earlier versions did not count `tooOld` and `ofAcceptance`. */
  skipped: z.object({
    ofReplays: count,
    ofAcceptance: z._default(count, 0),
    forgotten: count,
    tooOld: z._default(count, 0),
    payloadGone: count,
  }),
  /** Messages that SQS will never accept: their number, and the first of them. */
  refused: z.object({ count, first: z.array(z.object({ event, eventId: z.string(), why: z.string() })) }),
  /** One description for each archive object that could not be read to its end. */
  damaged: z.array(z.string()),
  /**
   * Who runs the replay, an id of this run, and when the run last saved its progress. Absent if nobody runs the replay.
   */
  running: z.optional(z.object({ by: z.string(), id: z.string(), at: z.string() })),
  finishedAt: z.optional(z.string()),
});

/** A replay as stored under `replays/<name>.json` in the archive's bucket. */
export type ReplayState = z.infer<typeof schema>;

export type Unsent = keyof ReplayState['skipped'];

export const sentOf = ({ sent }: Pick<ReplayState, 'sent'>) =>
  Object.values(sent).reduce((sum, messages) => sum + messages, 0);

/** Another process has taken over this replay. */
export class TakenOverError extends CommandError {}

/**
 * A text in the archive's bucket with one writer at a time: a write succeeds only if the object still has the version
 * last seen.
 */
class OwnedText {
  readonly #stack: Stage;
  readonly #object: { readonly Bucket: string; readonly Key: string };
  #etag: string | undefined;

  constructor(stack: Stage, Key: string) {
    this.#stack = stack;
    this.#object = { Bucket: stack.archiveBucket, Key };
  }

  /** @returns undefined if it does not exist */
  async read(): Promise<string | undefined> {
    const stored = await this.#stored();
    this.#etag = stored?.etag;
    return stored?.text;
  }

  async #stored() {
    try {
      const { Body, ETag } = await this.#stack.s3.send(new GetObjectCommand(this.#object));
      return { text: await Body?.transformToString(), etag: ETag };
    } catch (error) {
      if (error instanceof NoSuchKey) return undefined;
      throw error;
    }
  }

  /** @throws TakenOverError if another process has written the state since */
  async write(Body: string): Promise<void> {
    const condition = this.#etag === undefined ? { IfNoneMatch: '*' } : { IfMatch: this.#etag };
    try {
      const command = new PutObjectCommand({ ...this.#object, Body, ...condition });
      const { ETag } = await this.#stack.s3.send(command);
      this.#etag = ETag;
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'PreconditionFailed') throw error;
      // The client retries a write if the answer was lost. The retry then finds its own text.
      const stored = await this.#stored();
      if (stored?.text === Body) {
        this.#etag = stored.etag;
        return;
      }
      throw new TakenOverError('Another process has taken over this replay. This one stops');
    }
  }
}

/** The stored data of a replay: its state, and the finished objects that do not fit into it. */
export class StateFile {
  readonly #state: OwnedText;
  /** Hashes of the keys of finished objects, in the format of `done` in the state. */
  readonly done: OwnedText;
  readonly #name: string;

  constructor(stack: Stage, name: string) {
    this.#state = new OwnedText(stack, `replays/${name}.json`);
    this.done = new OwnedText(stack, `replays/${name}.done`);
    this.#name = name;
  }

  /**
   * @returns undefined if there is no such replay
   * @throws CommandError if the object is not the state of a replay
   */
  async read(): Promise<ReplayState | undefined> {
    const text = await this.#state.read();
    if (text === undefined) return undefined;
    const { data } = schema.safeParse(jsonOf(text));
    if (data !== undefined) return data;
    throw new CommandError(
      `replays/${this.#name}.json in the archive's bucket is not the state of a replay. Choose another --name`,
    );
  }

  /** @throws TakenOverError if another process has written the state since */
  write(state: ReplayState): Promise<void> {
    return this.#state.write(JSON.stringify(state));
  }
}
