import type { OutgoingHttpHeaders } from 'node:http';
import type { FauxqsServer } from 'fauxqs';
import type { AwsResponse } from './response.ts';
import { type AwsHttpRequest, REGION } from './service-forms.ts';

/** Maximum bytes of a request: DynamoDB's limit. Only S3 accepts more. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * A character that SQS rejects in a message: SQS accepts only the characters of XML 1.0. Source: SQS API reference,
 * `SendMessage`.
 */
export const FORBIDDEN_CHARACTER = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** State of a queue, as fauxqs reports it. */
export type InspectedQueue = NonNullable<ReturnType<FauxqsServer['inspectQueue']>>;

/** fauxqs (SQS, SNS and S3) in this process, without a port of its own. */
export type Fauxqs = ReturnType<typeof createFauxqs>;

/** Unlike a client, this process may send text. */
type FauxqsRequest = Omit<AwsHttpRequest, 'body'> & { readonly body: string | Buffer };

/** Headers that belong to one connection, not to the request or answer. */
const CONNECTION_HEADERS = ['connection', 'keep-alive', 'transfer-encoding', 'expect', 'date'];

/**
 * fauxqs is loaded at the first request, because that takes 200 ms of processor time.
 * @param host of the endpoint for clients, with its port
 */
export function createFauxqs(host: string) {
  let app: ReturnType<typeof start> | undefined;
  const running = () => {
    app ??= start();
    return app;
  };
  return {
    async send({ method, url, headers, body }: FauxqsRequest): Promise<AwsResponse> {
      // fauxqs separates resources by the region in this header. Without the header, all resources are in the stack's
      // region.
      const { authorization: _authorization, ...others } = headers;
      const answer = await (await running()).inject({
        method,
        url,
        headers: { ...withoutConnection(others), host },
        ...(body.length > 0 && { payload: body }),
      });
      return {
        status: answer.statusCode,
        headers: withoutConnection(answer.headers),
        body: answer.rawPayload,
      };
    },
    /** @returns undefined if the queue does not exist */
    async inspectQueue(name: string): Promise<InspectedQueue | undefined> {
      const answer = await (await running()).inject({ url: `/_fauxqs/queues/${encodeURIComponent(name)}` });
      return answer.statusCode === 200 ? answer.json() : undefined;
    },
    /** Ends long polls. */
    async close(): Promise<void> {
      await (await app)?.close();
    },
  };
}

async function start() {
  const { buildApp } = await import('fauxqs');
  await admitAstralCharacters();
  const app = buildApp({ logger: false, defaultRegion: REGION });
  // fauxqs limits the bodies of S3 to 11 MiB. A parser without a limit replaces the parser of fauxqs.
  app.removeContentTypeParser('*');
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, (_request, body, done) =>
    done(null, body),
  );
  await app.ready();
  return app;
}

function withoutConnection(headers: OutgoingHttpHeaders): AwsResponse['headers'] {
  const others: AwsResponse['headers'] = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || CONNECTION_HEADERS.includes(name)) continue;
    others[name] = Array.isArray(value) ? value : String(value);
  }
  return others;
}

/**
 * Makes fauxqs accept characters above U+FFFF, such as emoji. The regular expression of fauxqs lacks the flag `u`, so
 * it takes such a character for two invalid halves.
 */
async function admitAstralCharacters(): Promise<void> {
  const file = new URL('sqs/sqsTypes.js', import.meta.resolve('fauxqs'));
  const types: { INVALID_MESSAGE_BODY_CHAR: RegExp } = await import(file.href);
  types.INVALID_MESSAGE_BODY_CHAR.test = (text) => FORBIDDEN_CHARACTER.test(text);
}
