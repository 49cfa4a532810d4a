import { refusals } from '../../../lib/api/refusals.ts';
import type { JsonSchema } from './field-schemas.ts';

/** An answer that API Gateway gives by itself, without asking the receiver. */
export interface GatewayAnswer {
  readonly status: '403' | '404' | '413' | '429' | '502' | '503' | '504';
  /** When, and what the partner does about it. */
  readonly description: string;
  /** Its only text. */
  readonly message: string;
}

const AGAIN = 'Send it again, later each time.';

/** Of an answer that is given before the receiver is asked. */
const NOT_KEPT = 'Nothing was kept.';

/** Of an answer that may come after the receiver was asked: Lambda goes on when API Gateway no longer waits. */
export const PERHAPS_KEPT = 'The event may have been kept or not: sending it twice does no harm.';

/** Those with a status of their own. Source: decision D16 and docs/deploying.md, "Which gateway". */
export const gatewayAnswers: readonly GatewayAnswer[] = [
  {
    status: '403',
    description: `Behind a REST API: the address is not below \`/api\`. Compare it with the one that we gave you. ${NOT_KEPT}`,
    message: 'Forbidden',
  },
  {
    status: '404',
    description: `The path or the method is another one. Compare the address with the one that we gave you. ${NOT_KEPT}`,
    message: 'Not Found',
  },
  {
    status: '413',
    description: `The body is too large: above 10 MB, or above the 6 MB that the receiver can take with its envelope: some 6 MB of JSON, 4.5 MB of another content type or behind a REST API. Do not repeat it. A REST API may answer 500 instead. ${NOT_KEPT}`,
    message: 'Request Entity Too Large',
  },
  {
    status: '429',
    description: `Behind an HTTP API: more requests than are allowed. ${NOT_KEPT} ${AGAIN}`,
    message: 'Too Many Requests',
  },
  {
    status: '502',
    description: `Behind an HTTP API: what the receiver said was no answer. ${PERHAPS_KEPT} ${AGAIN}`,
    message: 'Bad Gateway',
  },
  {
    status: '503',
    description: `Behind an HTTP API: the receiver was not available, or took too long. ${PERHAPS_KEPT} ${AGAIN}`,
    message: 'Service Unavailable',
  },
  {
    status: '504',
    description: `Behind an HTTP API: the receiver took too long. ${PERHAPS_KEPT} ${AGAIN}`,
    message: 'Gateway Timeout',
  },
];

export const gatewayMessageSchema: JsonSchema = {
  title: 'API Gateway’s own answer',
  description: 'What API Gateway says by itself, before or instead of the receiver.',
  type: 'object',
  properties: { message: { type: ['string', 'null'], description: 'What is wrong, in a few words.' } },
  required: ['message'],
};

/** What a REST API refuses with 500, so that it is repeated. */
const refusalTexts: Readonly<Record<keyof typeof refusals, string>> = {
  THROTTLED: 'more requests than are allowed',
  INTEGRATION_FAILURE: 'the receiver could not be called',
  INTEGRATION_TIMEOUT: 'the receiver took too long',
  DEFAULT_4XX: 'Lambda turned the request away',
  DEFAULT_5XX: 'anything else that failed',
  WAF_FILTERED: 'a firewall took the request for an attack',
  REQUEST_TOO_LARGE: 'the body is too large; do not repeat it',
};

/** The refusals of a REST API as a list in Markdown. */
export const refusalList = Object.entries(refusals)
  .map(([type, seconds]) => {
    const text = refusalTexts[type as keyof typeof refusals];
    return `- ${text}${seconds === undefined ? '' : ` (\`Retry-After: ${seconds}\`)`}`;
  })
  .join('\n');

/** Every value of `Retry-After`, in seconds. */
export const retryAfterSeconds = [
  ...new Set(Object.values(refusals).filter((seconds) => seconds !== undefined)),
];
