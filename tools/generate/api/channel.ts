import type { JsonSchema } from './field-schemas.ts';

/** Messages of AsyncAPI by their names. */
export type Messages = Readonly<Record<string, JsonSchema>>;

export type ServerName = 'webhook' | 'sqs' | 'sns';

export interface Operation {
  /** Of our application. */
  readonly action: 'send' | 'receive';
  readonly title: string;
  readonly description: string;
  readonly bindings?: JsonSchema;
}

/** Where messages are, and what our application does with them. */
export interface Channel {
  readonly title: string;
  readonly description: string;
  readonly server: ServerName;
  /** Known beforehand, or the output of the stack that says it. */
  readonly address: { readonly path: string } | { readonly output: string };
  readonly bindings?: JsonSchema;
  readonly messages: Messages;
  /** By their names. */
  readonly operations: Readonly<Record<string, Operation>>;
}

/** A channel as AsyncAPI has it. */
export const describedChannel = ({ title, description, server, address, bindings, messages }: Channel) => ({
  ...('path' in address
    ? { address: address.path }
    : {
        address: `{${address.output}}`,
        parameters: { [address.output]: { description: 'The output of the stack by this name.' } },
      }),
  title,
  description,
  servers: [{ $ref: `#/servers/${server}` }],
  messages: Object.fromEntries(
    Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
  ),
  ...(bindings && { bindings }),
});

/** Its operations as AsyncAPI has them. */
export const describedOperations = (id: string, { operations, server }: Channel) =>
  Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [
      name,
      {
        ...operation,
        channel: { $ref: `#/channels/${id}` },
        security: [{ $ref: `#/components/securitySchemes/${server === 'webhook' ? 'signature' : 'aws'}` }],
        tags: [{ $ref: `#/components/tags/${server}` }],
      },
    ]),
  );
