import { GetObjectCommand, NoSuchKey, PutObjectCommand } from '@aws-sdk/client-s3';
import * as z from 'zod/mini';
import type { SettledOutcome } from '../../../lambda/archive/record.ts';
import { type EventName, isEventName } from '../../../lambda/contract/catalogue.ts';
import { REPLAY_NAME, replayModes } from '../../../lambda/queue/replay.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { settledOutcomes } from '../archive/filter.ts';
import { archiveBucket } from '../archive/objects.ts';
import type { Stage } from '../stage.ts';

const event = z.custom<EventName>((value) => typeof value === 'string' && isEventName(value));
const outcome = z.custom<SettledOutcome>((value) => settledOutcomes.some((known) => known === value));
const count = z.number();

const schema = z.object({
  name: z.string().check(z.regex(REPLAY_NAME)),
  mode: z.enum(replayModes),
  notify: z.boolean(),
  /** Which records; the window is fixed, however it was typed. */
  filter: z.object({
    events: z.array(event),
    since: z.string(),
    until: z.string(),
    shop: z.optional(z.string()),
    ids: z.optional(z.array(z.string())),
    outcomes: z.optional(z.array(outcome)),
  }),
  /** The window as it was typed, to know it again. */
  typed: z.object({ since: z.string(), until: z.optional(z.string()) }),
  /** ARN of who began it. */
  by: z.string(),
  startedAt: z.string(),
  /** Messages, by the plan. */
  planned: count,
  /** The object that is being read, and its last line of which is known what became of it. */
  position: z.optional(z.object({ key: z.string(), line: z.number() })),
  /** Objects that are done, as `DoneObjects` has them as a text. */
  done: z.string(),
  /** Messages sent, by event. */
  sent: z.record(z.string(), count),
  /** Records that are not sent, by reason. */
  skipped: z.object({ ofReplays: count, forgotten: count, tooOld: z._default(count, 0), payloadGone: count }),
  /** What SQS will never take: how many, and the first of them. */
  refused: z.object({ count, first: z.array(z.object({ event, eventId: z.string(), why: z.string() })) }),
  /** What of which objects cannot be read. */
  damaged: z.array(z.string()),
  /** Who runs it, by an id of the run, and when it last said so; absent while nobody does. */
  running: z.optional(z.object({ by: z.string(), id: z.string(), at: z.string() })),
  finishedAt: z.optional(z.string()),
});

/** A replay as it is kept under `replays/<name>.json` in the archive's bucket. */
export type ReplayState = z.infer<typeof schema>;

/** Somebody else has written the state of this replay. */
export class TakenOverError extends CommandError {}

/** The file of a replay's state. */
export class StateFile {
  readonly #stack: Stage;
  readonly #name: string;
  /** Of what was read or written last; undefined where there is none. */
  #etag: string | undefined;

  constructor(stack: Stage, name: string) {
    this.#stack = stack;
    this.#name = name;
  }

  /** @returns undefined where there is no such replay @throws CommandError where it cannot be understood */
  async read(): Promise<ReplayState | undefined> {
    try {
      const { Body, ETag } = await this.#stack.s3.send(new GetObjectCommand(this.#place));
      const { data } = schema.safeParse(JSON.parse((await Body?.transformToString()) ?? ''));
      if (data === undefined) throw new SyntaxError();
      this.#etag = ETag;
      return data;
    } catch (error) {
      if (error instanceof NoSuchKey) return undefined;
      if (!(error instanceof SyntaxError)) throw error;
      const { Bucket, Key } = this.#place;
      throw new CommandError(`s3://${Bucket}/${Key} is not the state of a replay: give another --name`);
    }
  }

  /** @throws TakenOverError where somebody else has written it since it was read or written here */
  async write(state: ReplayState): Promise<void> {
    const text = JSON.stringify(state);
    try {
      const { ETag } = await this.#stack.s3.send(
        new PutObjectCommand({
          ...this.#place,
          Body: text,
          ContentType: 'application/json',
          ...(this.#etag === undefined ? { IfNoneMatch: '*' } : { IfMatch: this.#etag }),
        }),
      );
      this.#etag = ETag;
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'PreconditionFailed') throw error;
      // The client repeats a write whose answer was lost, and finds that very one.
      if (await this.#holds(text)) return;
      throw new TakenOverError(`Somebody else runs replay ${this.#name} now: this one stops`);
    }
  }

  async #holds(text: string): Promise<boolean> {
    const { Body, ETag } = await this.#stack.s3.send(new GetObjectCommand(this.#place));
    if ((await Body?.transformToString()) !== text) return false;
    this.#etag = ETag;
    return true;
  }

  get #place() {
    return { Bucket: archiveBucket(this.#stack), Key: `replays/${this.#name}.json` };
  }
}
