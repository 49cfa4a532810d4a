import type { HttpRequest } from '../../../local/gateway/http-message.ts';

/** A request as it came, with the bytes of its body. */
export interface SentRequest extends HttpRequest {
  readonly body: Buffer;
  /** HMACs of the bodies that came before it, under the secret. @default none */
  readonly earlier?: readonly Buffer[];
}

/** The first line's target: path and query string. */
export const targetOf = ({ path, query }: HttpRequest) => (query === '' ? path : `${path}?${query}`);
