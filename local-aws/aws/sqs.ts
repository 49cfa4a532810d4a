import type { InspectedMessage } from '../observation.ts';
import { AwsError } from './errors.ts';
import type { Fauxqs, InspectedQueue } from './fauxqs.ts';
import { type JsonObject, objectsOf, parseJsonObject, textAttributes, textOf, textsOf } from './json.ts';
import { checkMessage } from './model/sqs-message-rules.ts';
import { type Operations, REGION, SERVICES } from './service-forms.ts';

/** Operations that fauxqs implements correctly and that are forwarded to it. */
const FORWARDED = [
  'ChangeMessageVisibility ChangeMessageVisibilityBatch CreateQueue DeleteMessage DeleteMessageBatch DeleteQueue',
  'GetQueueAttributes GetQueueUrl ListQueues PurgeQueue SetQueueAttributes',
].flatMap((names) => names.split(' '));

/** Operations whose answers contain queue URLs. */
const ANSWERS_WITH_QUEUE_URLS = ['CreateQueue', 'GetQueueUrl', 'ListQueues'];

/** An attribute name that no message has. A request for only this name makes fauxqs return no attributes. */
const NO_ATTRIBUTES = ['\0'];

/** @param host of the endpoint for clients, with its port */
export function createSqs(fauxqs: Fauxqs, host: string) {
  const queueHost = new RegExp(`//sqs\\.${REGION}\\.localhost(:\\d+)?`, 'g');

  /** @throws AwsError with the error of fauxqs */
  async function forward(operation: string, parameters: JsonObject): Promise<JsonObject> {
    const { status, body } = await fauxqs.send({
      method: 'POST',
      url: '/',
      headers: {
        'content-type': SERVICES.sqs.contentType,
        'x-amz-target': `${SERVICES.sqs.target}.${operation}`,
      },
      body: JSON.stringify(parameters),
    });
    // Not every machine resolves fauxqs's host `sqs.<region>.localhost`, and its port may be an earlier one.
    const hasUrls = ANSWERS_WITH_QUEUE_URLS.includes(operation);
    const text = body.toString();
    const answer = parseJsonObject(hasUrls ? text.replaceAll(queueHost, `//${host}`) : text) ?? {};
    if (status < 400) return answer;
    const code = textOf(answer, '__type')?.split('#').at(-1) ?? 'InternalFailure';
    throw new AwsError(code, textOf(answer, 'message') ?? code, { status });
  }

  const operations: Operations = {
    ...Object.fromEntries(
      FORWARDED.map((operation) => [operation, (parameters: JsonObject) => forward(operation, parameters)]),
    ),

    SendMessage(parameters) {
      checkMessage(parameters);
      return forward('SendMessage', parameters);
    },

    async SendMessageBatch(parameters) {
      const failed: JsonObject[] = [];
      const valid = objectsOf(parameters, 'Entries').filter((entry) => {
        try {
          checkMessage(entry);
          return true;
        } catch (error) {
          if (!(error instanceof AwsError)) throw error;
          failed.push({ Id: entry.Id, SenderFault: true, Code: error.code, Message: error.message });
          return false;
        }
      });
      if (failed.length === 0) return forward('SendMessageBatch', parameters);
      if (valid.length === 0) return { Successful: [], Failed: failed };
      const answer = await forward('SendMessageBatch', { ...parameters, Entries: valid });
      return { ...answer, Failed: [...objectsOf(answer, 'Failed'), ...failed] };
    },

    /** If no attribute is requested, SQS returns none, but fauxqs returns all. */
    ReceiveMessage(parameters) {
      const names = textsOf(parameters, 'MessageAttributeNames') ?? [];
      const MessageAttributeNames = names.length > 0 ? names : NO_ATTRIBUTES;
      return forward('ReceiveMessage', { ...parameters, MessageAttributeNames });
    },
  };

  return {
    operations,
    /** Returns the messages of a queue without receiving them, oldest first. @throws Error if it does not exist */
    async inspectQueue(queueUrl: string): Promise<InspectedMessage[]> {
      const queue = await fauxqs.inspectQueue(queueUrl.split('/').at(-1) ?? '');
      if (queue === undefined) throw new Error(`There is no queue ${queueUrl}`);
      return inspectedMessages(queue, Date.now());
    },
  };
}

/**
 * The messages of a queue. Until the next receive, fauxqs lists messages as delayed or in flight even if
 * their time has passed, so the times are checked here.
 * @param now epoch milliseconds
 */
function inspectedMessages({ messages }: InspectedQueue, now: number): InspectedMessage[] {
  const { ready, delayed, inflight } = messages;
  const inspected = [
    ...ready.map((message) => inspect(message, 'waiting')),
    ...delayed.map((message) => inspect(message, (message.delayUntil ?? 0) > now ? 'delayed' : 'waiting')),
    ...inflight.map(({ message, visibilityDeadline }) =>
      inspect(message, visibilityDeadline > now ? 'in flight' : 'waiting'),
    ),
  ];
  return inspected.sort((one, other) => one.sentAt.getTime() - other.sentAt.getTime());
}

function inspect(
  message: InspectedQueue['messages']['ready'][number],
  state: InspectedMessage['state'],
): InspectedMessage {
  return {
    id: message.messageId,
    body: message.body,
    state,
    sentAt: new Date(message.sentTimestamp),
    receives: message.approximateReceiveCount,
    attributes: textAttributes(message.messageAttributes, 'StringValue'),
  };
}
