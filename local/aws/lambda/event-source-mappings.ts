import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { AwsError } from '../aws-error.ts';
import type { JsonObject } from '../json.ts';
import type { KeptState } from '../kept/kept-state.ts';
import { type AwsResponse, jsonResponse } from '../response.ts';

/** An event source that runs here, and can be turned off and on. */
export interface EventSourceMapping {
  readonly eventSourceArn: string;
  readonly functionArn: string;
  /** What else Lambda tells of it, such as `BatchSize`. */
  readonly settings: JsonObject;
  /** Stops it. @returns when what it has in hand is done with */
  disable(): Promise<void>;
  enable(): void;
}

/** What Lambda or a call sets. */
const standing = z.object({
  uuid: z.string(),
  state: z.enum(['Enabled', 'Disabling', 'Disabled']),
  /** Epoch seconds. */
  modifiedAt: z.number(),
});

interface Mapping extends z.infer<typeof standing> {
  readonly source: EventSourceMapping;
}

/** Lambda's event source mappings, which is the whole of Lambda's API here. */
export interface EventSourceMappings {
  /**
   * Adds one. One of the same queue and function, of an earlier run or removed since, lends it what was set.
   * @returns what removes it
   */
  add(source: EventSourceMapping): () => void;
  /** @param parameters those of the address and of the document together */
  answer(operation: string, parameters: JsonObject): AwsResponse;
}

const JSON_TYPE = 'application/json';

export function createEventSourceMappings({
  region,
  accountId,
  kept,
}: {
  region: string;
  accountId: string;
  /** @default nothing is kept */
  kept?: KeptState | undefined;
}): EventSourceMappings {
  const mappings = new Map<string, Mapping>();
  const shelf = kept?.shelf('event source', standing);
  /** What was set, by queue and function. */
  const before = new Map(shelf?.entries());

  function keep({ source, ...set }: Mapping): void {
    before.set(keyOf(source), set);
    shelf?.put(keyOf(source), set);
  }

  function described({ uuid, source, state, modifiedAt }: Mapping): JsonObject {
    return {
      UUID: uuid,
      ...source.settings,
      EventSourceArn: source.eventSourceArn,
      EventSourceMappingArn: `arn:aws:lambda:${region}:${accountId}:event-source-mapping:${uuid}`,
      FunctionArn: source.functionArn,
      LastModified: modifiedAt,
      State: state,
      StateTransitionReason: 'USER_INITIATED',
    };
  }

  function mappingOf({ UUID }: JsonObject): Mapping {
    const mapping = mappings.get(String(UUID));
    if (mapping !== undefined) return mapping;
    throw new AwsError('ResourceNotFoundException', 'The resource you requested does not exist.', {
      status: 404,
      details: { Type: 'User' },
    });
  }

  function set(mapping: Mapping, state: Mapping['state']): void {
    Object.assign(mapping, { state, modifiedAt: Date.now() / 1000 });
    keep(mapping);
  }

  function turn(mapping: Mapping, enabled: boolean): void {
    if (enabled) {
      mapping.source.enable();
      set(mapping, 'Enabled');
      return;
    }
    set(mapping, 'Disabling');
    mapping.source.disable().then(() => set(mapping, 'Disabled'));
  }

  const operations: Record<string, (parameters: JsonObject) => AwsResponse> = {
    ListEventSourceMappings({ EventSourceArn, FunctionName }) {
      const found = [...mappings.values()].filter(
        ({ source: { eventSourceArn, functionArn } }) =>
          (EventSourceArn === undefined || eventSourceArn === EventSourceArn) &&
          (FunctionName === undefined ||
            [functionArn, functionArn.split(':function:')[1]].includes(String(FunctionName))),
      );
      return jsonResponse({ EventSourceMappings: found.map(described) }, JSON_TYPE);
    },

    GetEventSourceMapping: (parameters) => jsonResponse(described(mappingOf(parameters)), JSON_TYPE),

    UpdateEventSourceMapping(parameters) {
      const { UUID, Enabled, ...others } = parameters;
      const mapping = mappingOf(parameters);
      const unknown = Object.keys(others);
      if (unknown.length > 0) {
        throw new AwsError(
          'InvalidParameterValueException',
          `The local AWS endpoint changes nothing of an event source mapping but Enabled, not ${unknown.join(', ')}.`,
        );
      }
      if (mapping.state === 'Disabling') {
        throw new AwsError(
          'ResourceInUseException',
          `Cannot update the event source mapping because it is in use: it is ${mapping.state}.`,
        );
      }
      if (typeof Enabled === 'boolean' && Enabled !== (mapping.state === 'Enabled')) turn(mapping, Enabled);
      return { ...jsonResponse(described(mapping), JSON_TYPE), status: 202 };
    },
  };

  return {
    add(source) {
      const earlier = before.get(keyOf(source));
      const mapping: Mapping = {
        uuid: randomUUID(),
        state: 'Enabled',
        modifiedAt: Date.now() / 1000,
        ...earlier,
        source,
      };
      mappings.set(mapping.uuid, mapping);
      keep(mapping);
      // What it had in hand when it was turned off is over with the process that had it.
      if (mapping.state !== 'Enabled') turn(mapping, false);
      return () => mappings.delete(mapping.uuid);
    },

    answer(operation, parameters) {
      const carryOut = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
      if (carryOut === undefined) throw new Error(`No operation ${operation}`);
      return carryOut(parameters);
    },
  };
}

/** By which one of the last run is found again. */
function keyOf({ eventSourceArn, functionArn }: EventSourceMapping): string {
  return `${eventSourceArn} ${functionArn}`;
}
