import { FAILED_CALL } from './errors.ts';

/**
 * Frames that an error remembers; Node.js' own 10 are all the SDK's where one of its calls fails.
 * It costs an error some microseconds.
 */
Error.stackTraceLimit = 30;

/** A failed call, as the SDK's logger middleware passes it to a client's logger. */
interface FailedCall {
  readonly clientName: string;
  readonly commandName: string;
  readonly error: { [FAILED_CALL]?: string };
}

/**
 * Settings of every AWS client. A hung dependency must fail the call and not the function: a call ends
 * after some 4 s at the worst, and the functions' time-outs allow for as many as a request makes.
 */
export const clientSettings = {
  maxAttempts: 2,
  // The SDK calls a logger for each call anyway. Its arguments hold the payload: nothing of them may be logged.
  logger: {
    debug() {},
    info() {},
    warn: console.warn,
    error({ clientName, commandName, error }: FailedCall) {
      error[FAILED_CALL] = `${clientName.replace(/Client$/, '')} ${commandName.replace(/Command$/, '')}`;
    },
  },
  requestHandler: {
    connectionTimeout: 1_000,
    requestTimeout: 2_000,
    throwOnRequestTimeout: true,
  },
} as const;
