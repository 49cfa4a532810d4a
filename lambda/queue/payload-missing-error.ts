/** A payload that a message refers to is not there: it has expired, or never was. */
export class PayloadMissingError extends Error {
  override readonly name = 'PayloadMissingError';
}
