import { sha256Hex } from '../../../lambda/hash.ts';

/** What names a delivery; here and there with an example. */
export const eventId = {
  type: 'string',
  pattern: '^[0-9a-f]{64}$',
  description: 'SHA-256 of the body’s bytes in hex. A repeat of the same bytes has the same id.',
};

/** That of a payload whose bytes are its JSON without white space. */
export const eventIdOf = (payload: object) => sha256Hex(Buffer.from(JSON.stringify(payload)));

export const requestId = {
  type: 'string',
  description: 'Names the request that brought the event. Give this id to ask what became of it.',
};

export const REQUEST_ID = 'JZ3dXgkWIAMEPlw=';

/** The hash of `{}`. */
export const EVENT_ID = eventIdOf({});
