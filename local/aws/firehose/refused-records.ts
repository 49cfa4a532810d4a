import { isJsonObject, type JsonObject, objectsOf, parseJsonObject } from '../json.ts';
import type { AwsRequest } from '../request.ts';
import { type AwsResponse, JSON_1_1, jsonResponse } from '../response.ts';

/** What Firehose says of a record that it was too busy to take. */
const REFUSAL: JsonObject = { ErrorCode: 'ServiceUnavailableException', ErrorMessage: 'Slow down.' };

/**
 * Carries out a `PutRecordBatch` but for some of its records.
 * @param isRefused by the record's place in the call
 */
export async function putOthers(
  request: AwsRequest,
  isRefused: readonly boolean[],
  carryOut: (request: AwsRequest) => AwsResponse | Promise<AwsResponse>,
): Promise<AwsResponse> {
  const Records = objectsOf(request.parameters, 'Records').filter((_, index) => !isRefused[index]);
  const answer =
    Records.length === 0
      ? jsonResponse({ Encrypted: false, RequestResponses: [] }, JSON_1_1)
      : await carryOut({ ...request, parameters: { ...request.parameters, Records } });
  const document = parseJsonObject(answer.body.toString()) ?? {};
  const taken = objectsOf(document, 'RequestResponses').values();
  const responses = isRefused.map((refused) => (refused ? REFUSAL : (taken.next().value ?? REFUSAL)));
  return jsonResponse(
    {
      ...document,
      FailedPutCount: responses.filter((response) => isJsonObject(response) && response.ErrorCode).length,
      RequestResponses: responses,
    },
    JSON_1_1,
  );
}
