import { randomUUID } from 'node:crypto';
import { AwsError } from './errors.ts';
import { type JsonObject, parseJsonObject, textOf } from './json.ts';
import {
  type AwsHttpRequest,
  type AwsRequest,
  arnOf,
  type Operations,
  pathOf,
  queryOf,
} from './service-forms.ts';

/** An event source in this process. Lambda's API can disable and enable it. */
interface EventSource {
  /**
   * Stops polling.
   * @returns when the messages already received are processed
   */
  disable(): Promise<void>;
  enable(): void;
}

/** An event source as Lambda's API describes it, with further fields, such as `BatchSize`. */
interface EventSourceDescription extends JsonObject {
  readonly EventSourceArn: string;
  readonly FunctionArn: string;
}

interface Mapping {
  readonly source: EventSource;
  readonly described: EventSourceDescription & { State: 'Enabled' | 'Disabling' | 'Disabled' };
}

/** Lambda's event source mappings, the only part of Lambda's API that exists here. */
export function createEventSourceMappings() {
  const mappings = new Map<string, Mapping>();

  function set({ described }: Mapping, State: Mapping['described']['State']): void {
    // Epoch seconds.
    Object.assign(described, { State, LastModified: Date.now() / 1000 });
  }

  function turn(mapping: Mapping, enabled: boolean): void {
    set(mapping, enabled ? 'Enabled' : 'Disabling');
    if (enabled) mapping.source.enable();
    else mapping.source.disable().then(() => set(mapping, 'Disabled'));
  }

  const operations: Operations = {
    ListEventSourceMappings(parameters) {
      const queue = textOf(parameters, 'EventSourceArn');
      const name = textOf(parameters, 'FunctionName');
      const found = [...mappings.values()].filter(({ described: { EventSourceArn, FunctionArn } }) => {
        const names = [FunctionArn, FunctionArn.split(':function:')[1]];
        return (queue ?? EventSourceArn) === EventSourceArn && names.includes(name ?? FunctionArn);
      });
      return { EventSourceMappings: found.map(({ described }) => described) };
    },

    UpdateEventSourceMapping({ UUID, Enabled, ...others }) {
      const mapping = mappings.get(String(UUID));
      if (mapping === undefined) {
        throw new AwsError('ResourceNotFoundException', 'The resource you requested does not exist.', {
          status: 404,
          details: { Type: 'User' },
        });
      }
      const { State } = mapping.described;
      if (typeof (Enabled ?? true) !== 'boolean') {
        throw new AwsError('InvalidRequestContentException', 'Enabled must be true or false.');
      }
      const unknown = Object.keys(others);
      if (unknown.length > 0) {
        throw new AwsError(
          'InvalidParameterValueException',
          `The local AWS endpoint changes only Enabled of an event source mapping, not ${unknown.join(', ')}.`,
        );
      }
      if (State === 'Disabling') {
        throw new AwsError(
          'ResourceInUseException',
          `Cannot update the event source mapping because it is in use: it is ${State}.`,
        );
      }
      if (typeof Enabled === 'boolean' && Enabled !== (State === 'Enabled')) turn(mapping, Enabled);
      return { ...mapping.described };
    },
  };

  return {
    add(source: EventSource, description: EventSourceDescription): void {
      const uuid = randomUUID();
      const described = {
        UUID: uuid,
        ...description,
        EventSourceMappingArn: arnOf('lambda', `event-source-mapping:${uuid}`),
        LastModified: Date.now() / 1000,
        State: 'Enabled' as const,
        StateTransitionReason: 'USER_INITIATED',
      };
      mappings.set(uuid, { source, described });
    },

    operations,
  };
}

/** Path of all event source mappings, or of one by its id. Source: Lambda API reference. */
const PATH = /^\/2015-03-31\/event-source-mappings(?:\/([^/]*))?\/?$/;

/**
 * Reads a request to Lambda: method and path give the operation.
 * @throws AwsError for an operation that is not supported, and for a body that is not a JSON object
 */
export function parseLambdaRequest({
  method,
  url,
  body,
}: AwsHttpRequest): Pick<AwsRequest, 'operation' | 'parameters'> {
  const [matched, uuid] = PATH.exec(pathOf(url)) ?? [];
  const isUpdate = method === 'PUT' && uuid;
  if (matched === undefined || !(isUpdate || (method === 'GET' && !uuid))) {
    throw new AwsError(
      'UnknownOperationException',
      `The local AWS endpoint offers of Lambda ListEventSourceMappings and UpdateEventSourceMapping, not ${method} ${pathOf(url)}.`,
      { status: 404 },
    );
  }
  const document = body.length === 0 ? {} : parseJsonObject(body.toString());
  if (document === undefined) {
    throw new AwsError('InvalidRequestContentException', 'The request body is not a JSON object.');
  }
  return {
    operation: isUpdate ? 'UpdateEventSourceMapping' : 'ListEventSourceMappings',
    parameters: {
      ...Object.fromEntries(queryOf(url)),
      ...document,
      ...(uuid && { UUID: decodeURIComponent(uuid) }),
    },
  };
}
