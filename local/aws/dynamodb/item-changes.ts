import { isDeepStrictEqual } from 'node:util';
import type { Item, RowChange } from '../../observation.ts';
import { isJsonObject, type JsonObject, textOf } from '../json.ts';
import { type Dynalite, keyOf } from './dynalite.ts';

/**
 * Finds what writes change, by a look at the item before and after each. Writes to one item wait for one another, so that
 * none takes the change of another for its own.
 */
export class ItemChanges {
  readonly #dynalite: Dynalite;
  /** The last write to each item that is being written to. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(dynalite: Dynalite) {
    this.#dynalite = dynalite;
  }

  /**
   * @param parameters of PutItem, UpdateItem or DeleteItem
   * @param write carries it out
   * @param report is called before the next write to the same item begins
   * @throws what `write` throws
   */
  async observe(
    parameters: JsonObject,
    write: () => Promise<JsonObject>,
    report: (change: RowChange) => void,
  ): Promise<JsonObject> {
    const table = textOf(parameters, 'TableName') ?? '';
    const key = await keyOf(this.#dynalite, table, parameters.Key ?? parameters.Item).catch(() => undefined);
    // The write itself is about to be refused.
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

  /** @returns undefined also for an invalid key: the write itself says what is wrong */
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
