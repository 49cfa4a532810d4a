import {
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';

export type Row = Record<string, unknown>;

/** Reads tables as plain objects. */
export class Tables {
  readonly client: DynamoDBClient;

  /** @param settings of the client. @default the SDK's own: its environment and files */
  constructor(settings: DynamoDBClientConfig = {}) {
    this.client = new DynamoDBClient(settings);
  }

  /** The item with a key. Undefined if no item has it. */
  async get(table: string | undefined, key: Record<string, string>): Promise<Row | undefined> {
    const { Item } = await this.client.send(
      new GetItemCommand({
        TableName: table,
        ConsistentRead: true,
        Key: marshall(key),
      }),
    );
    return Item && unmarshall(Item);
  }

  /** Every item, in no order. */
  async scan(table: string | undefined): Promise<Row[]> {
    const { Items = [] } = await this.client.send(
      new ScanCommand({ TableName: table, ConsistentRead: true }),
    );
    return Items.map((item) => unmarshall(item));
  }
}
