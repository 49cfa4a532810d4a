import { isDeepStrictEqual } from 'node:util';
import type { ItemChange, ObservedItem } from '../../observation.ts';
import { isJsonObject, type JsonObject, textOf } from '../json.ts';
import { type Dynalite, keyOf } from './dynalite.ts';

/**
 * Finds the changes that writes make, by reading the item before and after each one. Writes to the same item wait for
 * each other, so that each change is assigned to its own write.
 */
export class ItemChanges {
  readonly #dynalite: Dynalite;
  /** The last write to each item with unfinished writes. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(dynalite: Dynalite) {
    this.#dynalite = dynalite;
  }

  /**
   * @param parameters of PutItem, UpdateItem or DeleteItem
   * @param write carries out the operation
   * @param report is called before the next write to the same item begins
   * @throws the error of `write`
   */
  async observe(
    parameters: JsonObject,
    write: () => Promise<JsonObject>,
    report: (change: ItemChange) => void,
  ): Promise<JsonObject> {
    const table = textOf(parameters, 'TableName') ?? '';
    const key = await keyOf(this.#dynalite, table, parameters.Key ?? parameters.Item).catch(() => undefined);
    // The write itself will fail.
    if (key === undefined) return write();
    return this.#inTurn(JSON.stringify([table, key]), async () => {
      const before = await this.#look(table, key);
      const answer = await write();
      const after = await this.#look(table, key);
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

  /** @returns undefined also for an invalid key: the write itself reports the error */
  async #look(table: string, key: JsonObject): Promise<ObservedItem | undefined> {
    const parameters = { TableName: table, Key: key, ConsistentRead: true };
    const { Item: item } = await this.#dynalite('GetItem', parameters).catch((): JsonObject => ({}));
    return isJsonObject(item) ? itemOf(item) : undefined;
  }
}

function itemOf(attributes: JsonObject): ObservedItem {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (isJsonObject(value) ? [[name, value]] : [])),
  );
}
