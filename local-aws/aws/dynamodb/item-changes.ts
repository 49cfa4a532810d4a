import { isDeepStrictEqual } from 'node:util';
import type { ItemChange, ObservedItem } from '../../observation.ts';
import { isJsonObject, type JsonObject, textOf } from '../json.ts';
import { type Dynalite, keyOf } from './dynalite.ts';

/**
 * Finds what each write changes, by reading the item before and after the write. Writes to the same item run
 * one after another, so that each change belongs to one write.
 */
export class ItemChanges {
  readonly #dynalite: Dynalite;
  /** The last pending write to each item. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(dynalite: Dynalite) {
    this.#dynalite = dynalite;
  }

  /**
   * @param parameters of PutItem, UpdateItem or DeleteItem
   * @param write carries out the operation
   * @param report is called with the change, before the next write to the same item begins
   * @throws the error of `write`
   */
  async observe(
    parameters: JsonObject,
    write: () => Promise<JsonObject>,
    report: (change: ItemChange) => void,
  ): Promise<JsonObject> {
    const table = textOf(parameters, 'TableName') ?? '';
    const key = await keyOf(this.#dynalite, table, parameters.Key ?? parameters.Item).catch(() => undefined);
    // Without a valid key, the write itself reports the error.
    if (key === undefined) return write();
    return this.#inTurn(JSON.stringify([table, key]), async () => {
      const before = await this.#read(table, key);
      const answer = await write();
      const after = await this.#read(table, key);
      if (!isDeepStrictEqual(before, after)) {
        report({ table, key: itemOf(key), before, after, at: new Date() });
      }
      return answer;
    });
  }

  async #inTurn<Answer>(item: string, act: () => Promise<Answer>): Promise<Answer> {
    const turn = (this.#last.get(item) ?? Promise.resolve()).then(act);
    const last = turn.catch(() => {});
    this.#last.set(item, last);
    try {
      return await turn;
    } finally {
      if (this.#last.get(item) === last) this.#last.delete(item);
    }
  }

  /**
   * Reads an item.
   * @returns undefined if the item does not exist, or if the key is invalid, which the write itself reports
   */
  async #read(table: string, key: JsonObject): Promise<ObservedItem | undefined> {
    const parameters = { TableName: table, Key: key, ConsistentRead: true };
    const { Item: item } = await this.#dynalite.call('GetItem', parameters).catch((): JsonObject => ({}));
    return isJsonObject(item) ? itemOf(item) : undefined;
  }
}

function itemOf(attributes: JsonObject): ObservedItem {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (isJsonObject(value) ? [[name, value]] : [])),
  );
}
