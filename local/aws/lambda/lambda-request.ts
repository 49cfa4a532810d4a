import { pathOf, queryOf } from '../address.ts';
import { AwsError } from '../aws-error.ts';
import { type JsonObject, parseJsonObject } from '../json.ts';

/** Lambda's event source mappings: the list, or one by its id. Source: Lambda API reference. */
const PATH = /^\/2015-03-31\/event-source-mappings(?:\/([^/]*))?\/?$/;

/** The operations of one mapping, by the method. */
const OF_ONE: Readonly<Record<string, string>> = {
  GET: 'GetEventSourceMapping',
  PUT: 'UpdateEventSourceMapping',
};

/**
 * Reads what a request asks of Lambda: its operation is in method and path.
 * @throws AwsError for an operation that is not offered, and for a body that is no JSON object
 */
export function parseLambdaRequest(
  method: string,
  url: string,
  body: Buffer,
): { operation: string; parameters: JsonObject } {
  const [matched, uuid] = PATH.exec(pathOf(url)) ?? [];
  const operation = uuid ? OF_ONE[method] : method === 'GET' ? 'ListEventSourceMappings' : undefined;
  if (matched === undefined || operation === undefined) {
    throw new AwsError(
      'UnknownOperationException',
      `The local AWS endpoint offers of Lambda ListEventSourceMappings, ${Object.values(OF_ONE).join(' and ')}, not ${method} ${pathOf(url)}.`,
      { status: 404 },
    );
  }
  const document = body.length === 0 ? {} : parseJsonObject(body.toString());
  if (document === undefined) {
    throw new AwsError('InvalidRequestContentException', 'The request body is not a JSON object.');
  }
  return {
    operation,
    parameters: {
      ...Object.fromEntries(queryOf(url)),
      ...document,
      ...(uuid && { UUID: decodeURIComponent(uuid) }),
    },
  };
}
