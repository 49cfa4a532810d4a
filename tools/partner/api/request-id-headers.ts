import { REQUEST_ID } from './ids.ts';

const header = (kind: string) => ({
  description: `Names the request, behind ${kind}: give us this id to ask what became of it. It is the \`requestId\` of our own answers, and the only id in answers of API Gateway.`,
  schema: { type: 'string', examples: [REQUEST_ID] },
});

/**
 * The ids that API Gateway puts on every answer, by component. Not `x-amzn-RequestId`, which a REST API has, too: a client
 * chooses it. Source: API Gateway developer guide, "Variables for access logging", `$context.extendedRequestId`; for an
 * HTTP API it is not documented, but seen.
 */
export const requestIdHeaders = {
  HttpApiRequestId: header('an HTTP API'),
  RestApiRequestId: header('a REST API'),
};

/** The headers of every response, as references to them. */
export const requestIdHeaderReferences = {
  'apigw-requestid': { $ref: '#/components/headers/HttpApiRequestId' },
  'x-amz-apigw-id': { $ref: '#/components/headers/RestApiRequestId' },
};
