import type { LocalStack } from 'local-aws';
import { MAX_FUNCTION_SECONDS, REQUEST_TIMEOUT, SECRET_MAX_AGE } from '../../lambda/limits.ts';

/** A fault that is active. */
export type StageFault = LocalStack['faults']['active'][number];

const RETRIED = 'Each message stays on its queue. The consumer tries again later, up to ten times';

/** Services that can be broken, in the order in which a delivery reaches them, and what to expect. */
export const FAULT_SERVICES = {
  secretsmanager: {
    name: 'Secrets Manager',
    expect: `A running receiver uses the secret that it has cached for ${SECRET_MAX_AGE / 60_000} minutes. A new one answers 500, and the partner repeats the delivery.`,
  },
  s3: {
    name: 'S3',
    expect: `Only large payloads are affected: the receiver answers 500, and the partner repeats the delivery. ${RETRIED}.`,
  },
  sqs: {
    name: 'SQS',
    expect: 'The receiver answers 500, and the partner repeats the delivery. Queued messages wait.',
  },
  dynamodb: { name: 'DynamoDB', expect: `No item changes. ${RETRIED}.` },
  sns: { name: 'SNS', expect: `No notification is sent. ${RETRIED}.` },
  firehose: {
    name: 'Firehose',
    expect: 'Events are processed. Their messages return until they are archived, without a second effect.',
  },
} as const satisfies Readonly<Record<StageFault['service'], object>>;

export type FaultService = keyof typeof FAULT_SERVICES;

interface FaultWay {
  readonly kind: StageFault['kind'];
  readonly title: string;
  readonly does: string;
  /** The only service that it is for. @default all */
  readonly only?: FaultService;
}

/** Ways to break a service, by their names on the command line. */
export const FAULT_WAYS: Readonly<Record<string, FaultWay>> = {
  down: { kind: 'down', title: 'is down', does: 'The connection breaks.' },
  throttle: { kind: 'throttled', title: 'throttles', does: 'The service returns its throttling error.' },
  slow: {
    kind: 'slow',
    title: 'is slow',
    does: `The call is delayed. From ${REQUEST_TIMEOUT / 1_000} s on it times out, as if the service were down.`,
  },
  'lose-response': {
    kind: 'response-lost',
    title: 'loses responses',
    does: 'The call is carried out, then the connection breaks. Its caller does not know, and repeats it.',
  },
  'stall-response': {
    kind: 'response-stalled',
    title: 'stalls responses',
    does: `The call is carried out, but its response never ends. Its caller repeats it after ${REQUEST_TIMEOUT / 1_000} s.`,
  },
  'refuse-records': {
    kind: 'records-refused',
    title: 'rejects records',
    does: 'Single records of a batch fail.',
    only: 'firehose',
  },
};

export const waysOf = (service: FaultService): string[] =>
  Object.entries(FAULT_WAYS).flatMap(([way, { only = service }]) => (only === service ? [way] : []));

/** Maximum delay in milliseconds. No function runs longer, so a longer delay would make no difference. */
export const MAX_DELAY_MS = MAX_FUNCTION_SECONDS * 1_000;

/** Text such as `SQS throttles, 60 % of calls`. */
export function faultTitle({ service, kind, milliseconds, share = 1 }: StageFault): string {
  const { title = kind } = Object.values(FAULT_WAYS).find((way) => way.kind === kind) ?? {};
  const by = milliseconds === undefined ? '' : `, by ${milliseconds} ms`;
  const of = share === 1 ? '' : `, ${Math.round(share * 100)} % of calls`;
  return `${FAULT_SERVICES[service].name} ${title}${by}${of}`;
}
