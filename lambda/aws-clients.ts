import { ConnectionHandler, Connections } from './connections.ts';
import { FAILED_CALL } from './errors.ts';
import { CALL_ATTEMPTS, CONNECTION_TIMEOUT, REQUEST_TIMEOUT } from './limits.ts';

/**
 * Stack frames that an error keeps. If an SDK call fails, Node's default of 10 shows only frames of the SDK. This costs
 * a few microseconds per error.
 */
Error.stackTraceLimit = 30;

/** A failed call, as the SDK's logger middleware passes it to a client's logger. */
interface FailedCall {
  readonly clientName: string;
  readonly commandName: string;
  readonly error: { [FAILED_CALL]?: string };
}

/** The connections of all clients of a function, except those that are imported on demand. */
export const connections = new Connections();

/**
 * Settings of every AWS client. A dependency that hangs must fail the call, not the function. The functions' timeouts
 * allow for all calls of a request (`limits.ts`).
 */
export const clientSettings = {
  maxAttempts: CALL_ATTEMPTS,
  // The SDK calls a logger for each call anyway. Its arguments contain the payload, so they must not be logged.
  logger: {
    debug() {},
    // With a function here, the SDK would copy the input and output of each call, which takes 3 % of a request.
    info: undefined as never,
    warn: console.warn,
    error({ clientName, commandName, error }: FailedCall) {
      error[FAILED_CALL] = `${clientName.replace(/Client$/, '')} ${commandName.replace(/Command$/, '')}`;
    },
  },
  requestHandler: new ConnectionHandler(connections, {
    connectionTimeout: CONNECTION_TIMEOUT,
    requestTimeout: REQUEST_TIMEOUT,
  }),
} as const;
