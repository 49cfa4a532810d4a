import { isDeepStrictEqual } from 'node:util';
import type { Item, RowChange } from '../../observation.ts';
import { isJsonObject, type JsonObject, textOf } from '../json.ts';
import type { Dynalite } from './dynalite.ts';
import { keyOf } from './item-key.ts';

/**
 * Finds what writes change, by a look at the row before and after each. Writes to one row are done one after another
 * for that, so that none takes the change of another one for its own.
 */
export class RowChanges {
  readonly #dynalite: Dynalite;
  /** The last write to each row that is being written to. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(dynalite: Dynalite) {
    this.#dynalite = dynalite;
  }

  /**
   * @param parameters of PutItem, UpdateItem or DeleteItem
   * @param write carries it out
   * @param report is told of the change before the next write to the same row begins
   * @throws what `write` throws
   */
  async observe(
    parameters: JsonObject,
    write: () => Promise<JsonObject>,
    report: (change: RowChange) => void,
  ): Promise<JsonObject> {
    const table = textOf(parameters, 'TableName') ?? '';
    const key = await keyOf(this.#dynalite, table, parameters.Key ?? parameters.Item).catch(() => undefined);
    // It is about to be refused.
    if (key === undefined) return write();
    return this.#inTurn(JSON.stringify([table, key]), async () => {
      const before = await this.#look(table, key);
      const answer = await write();
      const after = await this.#look(table, key);
      if (!isDeepStrictEqual(before, after))
        report({ table, key: itemOf(key), before, after, at: new Date() });
      return answer;
    });
  }

  async #inTurn<Answer>(row: string, act: () => Promise<Answer>): Promise<Answer> {
    const turn = (this.#last.get(row) ?? Promise.resolve()).then(act);
    const last = turn.catch(() => {});
    this.#last.set(row, last);
    try {
      return await turn;
    } finally {
      if (this.#last.get(row) === last) this.#last.delete(row);
    }
  }
  /** @returns undefined also for a key that is none: the write itself says what is wrong */
  async #look(table: string, key: JsonObject): Promise<Item | undefined> {
    const parameters = { TableName: table, Key: key, ConsistentRead: true };
    const { Item: item } = await this.#dynalite('GetItem', parameters).catch((): JsonObject => ({}));
    return isJsonObject(item) ? itemOf(item) : undefined;
  }
}

function itemOf(attributes: JsonObject): Item {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (isJsonObject(value) ? [[name, value]] : [])),
  );
}
