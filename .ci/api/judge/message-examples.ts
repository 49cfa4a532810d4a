import { expectDescribedMessage } from '../../../test/acceptance/descriptions.ts';
import type { Finding, Judge } from './judges.ts';

interface Described {
  readonly channels: Readonly<Record<string, Channel>>;
  readonly components: { readonly messages: Readonly<Record<string, Message>> };
}
interface Channel {
  readonly address: string;
  readonly messages: Readonly<Record<string, { readonly $ref: string }>>;
}
interface Message {
  readonly contentType: string;
  readonly examples: readonly Example[];
}
interface Example {
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: unknown;
}

/**
 * Whether every example of a message is as it is described, which neither Spectral nor the parser looks at in documents
 * of 3.0. By what the acceptance suite holds real messages against.
 */
export const messageExamples: Judge = async (text) => {
  const { channels, components } = JSON.parse(text) as Described;
  const findings: Finding[] = [];
  for (const { address, messages } of Object.values(channels)) {
    const [, output] = /^\{(\w+)\}$/.exec(address) ?? [];
    // What the partner posts is described, with the same examples, in OpenAPI.
    if (output === undefined) continue;
    for (const name of Object.keys(messages)) {
      const { contentType, examples } = components.messages[name] ?? { contentType: '', examples: [] };
      if (contentType !== 'application/json') continue;
      for (const { headers, payload } of examples) {
        try {
          expectDescribedMessage(output, {
            Body: JSON.stringify(payload),
            MessageAttributes: Object.fromEntries(
              Object.entries(headers).map(([key, value]) => [
                key,
                { DataType: 'String', StringValue: value },
              ]),
            ),
          });
        } catch (error) {
          findings.push({ rule: 'message-examples', text: `${name}: ${(error as Error).message}` });
        }
      }
    }
  }
  return findings;
};
