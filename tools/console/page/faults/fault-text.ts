import { MAX_FUNCTION_SECONDS, REQUEST_TIMEOUT, SECRET_MAX_AGE } from '../../../../lambda/limits.ts';
import { POSSIBLY_REPEATED } from '../../../../lambda/log-messages.ts';
import type { FaultSettings } from '../../api.ts';

export type FaultService = FaultSettings['service'];
export type FaultKind = FaultSettings['kind'];

/** Titles of the kinds of faults, the most severe first. */
export const kindNames: Readonly<Record<FaultKind, string>> = {
  down: 'Down',
  throttled: 'Throttled',
  slow: 'Slow',
  'response-lost': 'Response lost',
  'response-stalled': 'Response stalled',
  'records-refused': 'Records rejected',
};

const KIND_EFFECTS: Readonly<Record<FaultKind, string>> = {
  down: 'The connection breaks.',
  throttled: 'The service returns its throttling error.',
  slow: 'The call is delayed.',
  'response-lost': 'The call is carried out, then the connection breaks.',
  'response-stalled': `The call is carried out, and its response stalls after the headers. It times out after ${REQUEST_TIMEOUT / 1_000} s.`,
  'records-refused': 'Single records of a batch fail.',
};

interface ServiceText {
  readonly name: string;
  readonly use: string;
  /** What to expect from each kind of fault that the service supports. */
  readonly expect: Readonly<Partial<Record<FaultKind, string>>>;
}

const CACHED_SECRET =
  'A running receiver uses its cached secret. A new one answers 500, and the partner sends the delivery again.';

const BACKS_OFF = 'stays on its queue. The consumer backs off and tries again';

const REARCHIVED =
  'Events are processed. Their messages return until they are archived. They have no second effect.';

/** Services in the order in which a delivery reaches them. */
export const serviceTexts: Readonly<Record<FaultService, ServiceText>> = {
  secretsmanager: {
    name: 'Secrets Manager',
    use: `The receiver reads the secret here and caches it for ${SECRET_MAX_AGE / 60_000} minutes.`,
    expect: {
      down: CACHED_SECRET,
      throttled: CACHED_SECRET,
      slow: `The first response of a receiver, and one every ${SECRET_MAX_AGE / 60_000} minutes, is delayed.`,
      'response-lost': CACHED_SECRET,
    },
  },
  s3: {
    name: 'S3',
    use: 'Stores bodies that are too large for a queue.',
    expect: {
      down: 'Affects large deliveries only. The receiver answers 500. Consumers leave the message on its queue and back off.',
      throttled:
        'Affects large deliveries only. After two failed calls the receiver answers 500, and a message stays on its queue for another attempt.',
      slow: 'Affects large deliveries only. Responses and processing are delayed.',
      'response-lost':
        'Affects large deliveries only. The receiver answers 500 although the body is stored, and the partner sends it again.',
    },
  },
  sqs: {
    name: 'SQS',
    use: 'The receiver queues deliveries here, and consumers receive them.',
    expect: {
      down: 'The receiver answers 500, and the partner sends the delivery again. Queued messages stay, and nothing is consumed.',
      throttled:
        'After two failed calls the receiver answers 500, and the partner sends the delivery again. Consumers receive messages later.',
      slow: 'Responses to the partner and consumers are delayed.',
      'response-lost':
        'The receiver answers 500 although the delivery is queued. The partner sends it again, and the second one has no effect.',
    },
  },
  dynamodb: {
    name: 'DynamoDB',
    use: 'Consumers write items here, and record which notifications were sent.',
    expect: {
      down: `No item changes. Each message ${BACKS_OFF}, up to ten times.`,
      throttled: `After two failed calls the message ${BACKS_OFF}.`,
      slow: 'Processing is delayed, and messages wait on their queues.',
      'response-lost':
        'Items are written but the consumer does not know. It tries again, which changes nothing more.',
    },
  },
  sns: {
    name: 'SNS',
    use: 'Consumers publish notifications here.',
    expect: {
      down: `No notification is sent. Each message ${BACKS_OFF}, up to ten times.`,
      throttled: `After two failed calls the message ${BACKS_OFF}.`,
      slow: 'Notifications are delayed.',
      'response-lost': `Notifications are sent but the consumer does not know. It may send them twice, and then logs ${POSSIBLY_REPEATED}.`,
    },
  },
  firehose: {
    name: 'Firehose',
    use: 'Consumers archive processed events here.',
    expect: {
      down: REARCHIVED,
      throttled: REARCHIVED,
      slow: 'Events are processed at once, but their messages leave the queue later.',
      'response-lost': 'The records are archived but the consumer does not know. It archives them once more.',
      'records-refused': 'Only the messages of rejected records return, and are archived later.',
    },
  },
};

export const faultServices = Object.keys(serviceTexts) as FaultService[];
export const faultKinds = Object.keys(kindNames) as FaultKind[];

/** A response that stalls has the effect of one that is lost. */
const effectOf = (service: FaultService, kind: FaultKind) =>
  serviceTexts[service].expect[kind === 'response-stalled' ? 'response-lost' : kind];

export const canFail = (service: FaultService, kind: FaultKind) => effectOf(service, kind) !== undefined;

export function expectation({ service, kind, milliseconds = 0 }: FaultSettings): string {
  if (kind === 'slow' && milliseconds >= REQUEST_TIMEOUT) {
    const down = effectOf(service, 'down');
    return `Calls time out after ${seconds(REQUEST_TIMEOUT)}, as if the service were down. ${down}`;
  }
  return `${KIND_EFFECTS[kind]} ${effectOf(service, kind)}`;
}

/** Text such as `DynamoDB slow by 500 ms, 50 % of calls`. */
export function faultTitle({ service, kind, milliseconds = 0, share = 1 }: FaultSettings): string {
  const by = kind === 'slow' ? ` by ${seconds(milliseconds)}` : '';
  const of = share === 1 ? '' : `, ${Number((share * 100).toFixed(1))} % of calls`;
  return `${serviceTexts[service].name} ${kindNames[kind].toLowerCase()}${by}${of}`;
}

const seconds = (milliseconds: number) =>
  milliseconds >= 1_000 && milliseconds % 100 === 0 ? `${milliseconds / 1_000} s` : `${milliseconds} ms`;

export function parseShare(text: string): number | string {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && value <= 100) return value / 100;
  return 'The share must be above 0 and at most 100 %.';
}

/** Maximum delay in milliseconds. No function runs longer, so a longer delay would make no difference. */
const MAX_DELAY_MS = MAX_FUNCTION_SECONDS * 1_000;

export function parseMilliseconds(text: string): number | string {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= MAX_DELAY_MS) return value;
  return `The delay must be a whole number from 1 to ${MAX_DELAY_MS.toLocaleString('en')} ms.`;
}
