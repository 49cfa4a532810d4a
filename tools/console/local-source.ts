import type { Stage } from '../stage/stage.ts';
import type {
  Delivery,
  FunctionLine,
  RecordedAnswer,
  RecordedEffect,
  RecordedRequest,
  RowEffect,
} from './api.ts';
import type { Deliveries } from './deliveries.ts';
import { BODIES, BODIES_BYTES, type LocalRecorder } from './local-recorder.ts';
import { needlesOf } from './needles.ts';
import { plainRow } from './plain-row.ts';
import type { Source } from './source.ts';
import { tablesOf } from './tables.ts';

/** What the local stack has told. */
export class LocalSource implements Source {
  readonly stack: Stage;
  readonly deliveries: Deliveries;
  readonly #recorder: LocalRecorder;

  /** @param stack closed with this */
  constructor(recorder: LocalRecorder, stack: Stage) {
    this.#recorder = recorder;
    this.stack = stack;
    this.deliveries = recorder.deliveries;
  }

  async request({ id }: Delivery): Promise<RecordedRequest | undefined> {
    const exchange = this.#recorder.exchange(id);
    if (exchange === undefined) return undefined;
    const { method, path, query, headers, sourceIp, bytes } = exchange;
    const isKept = this.#recorder.body(id) !== undefined;
    return {
      method,
      path: query === '' ? path : `${path}?${query}`,
      headers,
      sourceIp,
      bytes: bytes ?? 0,
      ...(!isKept && {
        bodyMissing:
          bytes === undefined
            ? 'It was not read: no route wants it, or it is too large'
            : `It is not kept any more: the newest ${BODIES.toLocaleString('en')} are, of ${BODIES_BYTES / 1024 ** 2} MiB together`,
      }),
    };
  }

  async answer({ id }: Delivery): Promise<RecordedAnswer | undefined> {
    const exchange = this.#recorder.exchange(id);
    if (exchange === undefined) return undefined;
    const { status, responseHeaders, responseBody, durationMilliseconds } = exchange;
    return {
      status,
      headers: responseHeaders,
      body: responseBody.toString(),
      durationMs: Math.round(durationMilliseconds),
    };
  }

  async body({ id }: Delivery): Promise<Uint8Array | undefined> {
    return this.#recorder.body(id);
  }

  async effects({ eventId = '' }: Delivery): Promise<readonly RecordedEffect[]> {
    const { outputs } = this.stack;
    const tables = new Map(tablesOf(outputs).map((table) => [outputs[table.name], table]));
    const rows = this.#recorder.rows(eventId).flatMap((change): RowEffect[] => {
      const table = tables.get(change.table);
      if (table === undefined) return [];
      const { before, after, at } = change;
      return [
        {
          kind: 'row',
          table: table.name,
          key: String(plainRow(change.key)[table.key]),
          at: at.toISOString(),
          before: before === undefined ? null : plainRow(before),
          after: after === undefined ? null : plainRow(after),
        },
      ];
    });
    const notifications = this.#recorder.notifications(eventId).map(({ topicArn, subject, texts, at }) => {
      const [topic = topicArn] = Object.entries(outputs).find(([, value]) => value === topicArn) ?? [];
      return { kind: 'notification' as const, topic, at: at.toISOString(), subject, texts };
    });
    return [...rows, ...notifications];
  }

  logs({ id, eventId = '' }: Delivery): readonly FunctionLine[] {
    const lines = [...this.#recorder.lines(id), ...this.#recorder.lines(eventId)];
    return lines.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  }

  contains(id: string, text: string): boolean {
    const body = this.#recorder.body(id);
    if (body === undefined) return false;
    const payload = body.toString().toLowerCase();
    return needlesOf(text).some((needle) => payload.includes(needle));
  }

  /** All payloads that there are were looked through already. */
  async search(): Promise<undefined> {
    return undefined;
  }

  async close(): Promise<void> {
    this.stack.close();
  }
}
