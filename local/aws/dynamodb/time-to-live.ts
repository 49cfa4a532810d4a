import { AwsError } from '../aws-error.ts';
import { isJsonObject, type JsonObject, textOf } from '../json.ts';
import type { Dynalite } from './dynalite.ts';

/** The TTL settings of tables, which dynalite does not keep. Nothing expires by them. */
export interface TimeToLive {
  update(parameters: JsonObject): Promise<JsonObject>;
  describe(parameters: JsonObject): Promise<JsonObject>;
  /** To be called when the table goes. */
  forget(parameters: JsonObject): void;
}

export function createTimeToLive(dynalite: Dynalite): TimeToLive {
  /** Attribute name by table, where TTL is enabled. */
  const attributes = new Map<string, string>();

  async function existingTable(parameters: JsonObject): Promise<string> {
    const name = textOf(parameters, 'TableName') ?? '';
    await dynalite('DescribeTable', { TableName: name });
    return name;
  }

  return {
    async update(parameters) {
      const table = await existingTable(parameters);
      const settings = isJsonObject(parameters.TimeToLiveSpecification)
        ? parameters.TimeToLiveSpecification
        : {};
      const attribute = textOf(settings, 'AttributeName');
      if (!attribute || typeof settings.Enabled !== 'boolean') {
        throw new AwsError('ValidationException', 'TimeToLiveSpecification needs AttributeName and Enabled.');
      }
      if (settings.Enabled === attributes.has(table)) {
        const state = settings.Enabled ? 'enabled' : 'disabled';
        throw new AwsError('ValidationException', `TimeToLive is already ${state}`);
      }
      if (settings.Enabled) attributes.set(table, attribute);
      else attributes.delete(table);
      return { TimeToLiveSpecification: { AttributeName: attribute, Enabled: settings.Enabled } };
    },

    async describe(parameters) {
      const attribute = attributes.get(await existingTable(parameters));
      if (attribute === undefined) return { TimeToLiveDescription: { TimeToLiveStatus: 'DISABLED' } };
      return { TimeToLiveDescription: { TimeToLiveStatus: 'ENABLED', AttributeName: attribute } };
    },

    forget(parameters) {
      attributes.delete(textOf(parameters, 'TableName') ?? '');
    },
  };
}
