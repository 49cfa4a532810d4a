import type { FaultSettings } from '../../api.ts';

export type FaultService = FaultSettings['service'];
export type FaultKind = FaultSettings['kind'];

/** In the order in which a delivery meets them. */
export const faultServices: readonly FaultService[] = [
  'secretsmanager',
  's3',
  'sqs',
  'dynamodb',
  'sns',
  'firehose',
];

/** The gravest first. */
export const faultKinds: readonly FaultKind[] = [
  'down',
  'throttled',
  'slow',
  'response-lost',
  'records-refused',
];

export const kindNames: Readonly<Record<FaultKind, string>> = {
  down: 'Down',
  throttled: 'Throttled',
  slow: 'Slow',
  'response-lost': 'Answers lost',
  'records-refused': 'Records refused',
};

/** What a fault of a kind does to a call. */
export const kindMeanings: Readonly<Record<FaultKind, string>> = {
  down: 'The connection breaks',
  throttled: 'The service’s own throttling error',
  slow: 'Waits before it is carried out',
  'response-lost': 'Carried out, then the connection breaks',
  'records-refused': 'Single records of a batch fail',
};

interface ServiceText {
  readonly name: string;
  /** What needs it. */
  readonly use: string;
  /** What to expect while a fault of a kind is on. */
  readonly expect: Readonly<Partial<Record<FaultKind, string>>>;
}

/** A call of a function ends after so many milliseconds, and is tried twice: `clientSettings` of lambda/aws-clients.ts. */
const CALL_ENDS_AFTER = 2_000;

const services: Readonly<Record<FaultService, ServiceText>> = {
  secretsmanager: {
    name: 'Secrets Manager',
    use: 'The receiver reads the secret there, and keeps it for five minutes.',
    expect: {
      down: 'The receiver goes on with the secret that it has; one that has just started answers 500, and the partner delivers again.',
      throttled:
        'The receiver goes on with the secret that it has; one that has just started answers 500, and the partner delivers again.',
      slow: 'The first answer of a receiver, and one in five minutes, takes so much longer.',
      'response-lost':
        'The receiver goes on with the secret that it has; one that has just started answers 500, and the partner delivers again.',
    },
  },
  s3: {
    name: 'S3',
    use: 'Bodies that are too large for a queue lie there.',
    expect: {
      down: 'Only large deliveries feel it: the receiver answers them with 500, and consumers leave them on the queue and back off.',
      throttled:
        'Only large deliveries feel it: what fails twice is answered with 500, or stays on the queue until it is tried again.',
      slow: 'Only large deliveries feel it: their answers and their effects take so much longer.',
      'response-lost':
        'Only large deliveries feel it: the receiver answers 500 though the body is kept, and the partner delivers again.',
    },
  },
  sqs: {
    name: 'SQS',
    use: 'The receiver puts deliveries on queues, and consumers get them from there.',
    expect: {
      down: 'The receiver answers 500 and the partner delivers again. What is on the queues stays there, and nothing is consumed.',
      throttled:
        'What fails twice is answered with 500, and the partner delivers again. Consumers get their messages later.',
      slow: 'Each answer to the partner takes so much longer, and so does the way to a consumer.',
      'response-lost':
        'Deliveries are on their queue and answered with 500 all the same. The partner delivers again; the second has no effect.',
    },
  },
  dynamodb: {
    name: 'DynamoDB',
    use: 'Consumers write rows, and note whom they have told.',
    expect: {
      down: 'Rows stay as they are: the queue keeps each message, and its consumer backs off and tries again, ten times at most.',
      throttled: 'What fails twice stays on its queue: its consumer backs off and tries again.',
      slow: 'Each effect takes so much longer; messages wait on their queues meanwhile.',
      'response-lost':
        'Rows are written and the consumer does not know it: it tries again, which changes nothing more.',
    },
  },
  sns: {
    name: 'SNS',
    use: 'Consumers publish notifications there.',
    expect: {
      down: 'Nobody is told: the queue keeps each message, and its consumer backs off and tries again, ten times at most.',
      throttled: 'What fails twice stays on its queue: its consumer backs off and tries again.',
      slow: 'People are told so much later.',
      'response-lost':
        'People are told and the consumer does not know it: they may be told twice, and the log says of whom (PossiblyRepeated).',
    },
  },
  firehose: {
    name: 'Firehose',
    use: 'Consumers archive what they have settled.',
    expect: {
      down: 'Effects happen. Their messages come back until the archive takes them, which has no second effect.',
      throttled:
        'Effects happen. Their messages come back until the archive takes them, which has no second effect.',
      slow: 'Effects happen at once; their messages leave the queue so much later.',
      'response-lost':
        'The archive has the records and the consumer does not know it: it archives them once more.',
      'records-refused':
        'Of a batch the refused ones alone come back and are archived later; the others are done.',
    },
  },
};

export const serviceName = (service: FaultService) => services[service].name;

export const serviceUse = (service: FaultService) => services[service].use;

/** Whether a service can fail like that. */
export const canFail = (service: FaultService, kind: FaultKind) =>
  services[service].expect[kind] !== undefined;

/** What whoever looks should see while it is on. */
export function expectation({ service, kind, milliseconds = 0 }: FaultSettings): string {
  const { name, expect } = services[service];
  if (kind === 'slow' && milliseconds >= CALL_ENDS_AFTER) {
    return `A call ends after ${seconds(CALL_ENDS_AFTER)}, so this counts as down. ${expect.down ?? ''}`;
  }
  return expect[kind] ?? `${name} does not fail like that.`;
}

/** `DynamoDB: half of its calls are slow by 500 ms`. */
export function faultTitle({ service, kind, milliseconds = 0, share = 1 }: FaultSettings): string {
  const name = serviceName(service);
  switch (kind) {
    case 'down':
      return share === 1 ? `${name} is down` : `${name} is down for ${percent(share)} of the calls`;
    case 'throttled':
      return `${name} throttles ${which(share)} of its calls`;
    case 'slow':
      return `${name} is slow by ${seconds(milliseconds)}${share === 1 ? '' : ` in ${percent(share)} of the calls`}`;
    case 'response-lost':
      return `${name} loses ${which(share)} of its answers`;
    case 'records-refused':
      return `${name} refuses ${which(share)} of the records`;
  }
}

/** Only the whole is a word: `all`, else `25 %`. */
const which = (share: number) => (share === 1 ? 'all' : percent(share));

/** To a tenth at most. */
export const percent = (share: number) => `${Number((share * 100).toFixed(1))} %`;

const seconds = (milliseconds: number) =>
  milliseconds >= 1_000 && milliseconds % 100 === 0 ? `${milliseconds / 1_000} s` : `${milliseconds} ms`;

/** For the shell, while anything is on. */
export function activeText(faults: readonly FaultSettings[]): string {
  const [first] = faults;
  if (first === undefined) return '';
  if (faults.length === 1) return `${serviceName(first.service)}: ${kindNames[first.kind].toLowerCase()}`;
  return `${faults.length} faults are on`;
}

/** Percent as it was typed. @returns the share, or what is wrong with it */
export function parseShare(text: string): number | string {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0 && value <= 100)) return 'A number above 0, 100 at most';
  return value / 100;
}

/** The longest that a call may be slowed; longer than any function runs makes no difference. */
const LONGEST_MILLISECONDS = 60_000;

/** Milliseconds as they were typed. @returns the number, or what is wrong with it */
export function parseMilliseconds(text: string): number | string {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= 1 && value <= LONGEST_MILLISECONDS) {
    return value;
  }
  return `A whole number from 1 to ${LONGEST_MILLISECONDS.toLocaleString('en')}`;
}
