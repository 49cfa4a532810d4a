import type { APIGatewayProxyEventV2 } from 'aws-lambda';

/** The bytes that the partner signed (decision D2): never a re-serialised form. */
export function rawBody(event: Pick<APIGatewayProxyEventV2, 'body' | 'isBase64Encoded'>): Buffer {
  return Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
}
