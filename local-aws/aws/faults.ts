import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsError } from './errors.ts';
import { isJsonObject, type JsonObject, objectsOf, parseJsonObject } from './json.ts';
import { type AwsResponse, documentResponse } from './response.ts';
import type { AwsRequest, Service } from './service-forms.ts';

/** A failure to inject into the AWS endpoint. The failure lasts until a test ends it. */
export interface Fault {
  readonly service: Exclude<Service, 'logs' | 'monitoring' | 'lambda' | 'cloudformation' | 'sts'>;
  /** Operation such as `SendMessage`. @default every operation of the service */
  readonly operation?: string;
  /**
   * `down` breaks the connection, `throttled` answers with the service's own throttling error, `slow` waits before the
   * operation is carried out, `response-lost` carries it out and then breaks the connection, `response-stalled` carries
   * it out and sends only the headers of the response: the body stalls until the fault ends, and then the connection
   * breaks. `records-refused` carries out Firehose's PutRecordBatch without some of its records: `share` and `every`
   * then count records, not calls.
   */
  readonly kind: 'down' | 'throttled' | 'slow' | 'response-lost' | 'response-stalled' | 'records-refused';
  /** Delay of `slow`, which requires it. */
  readonly milliseconds?: number;
  /** Share of the affected calls, from 0 to 1. @default 1 */
  readonly share?: number;
  /** Affects every n-th call: 3 is every third one. Replaces `share`. */
  readonly every?: number;
  /** Affected callers: `roles` are functions and event sources, but not operators. @default 'roles' */
  readonly callers?: 'roles' | 'everyone';
}

/** Thrown to close the connection without an answer. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
}

/** Carries out a request, without throwing: an error is a response, too. */
type CarryOut = (request: AwsRequest) => AwsResponse | Promise<AwsResponse>;

interface ActiveFault {
  readonly fault: Fault;
  readonly isHit: () => boolean;
  readonly ended: AbortController;
  hits: number;
}

/** The only operation whose records can fail one by one. */
const BATCH = 'PutRecordBatch';

/** Error of each service for which AWS's SDKs retry as after throttling. */
const THROTTLING: Record<Fault['service'], { code: string; status: number }> = {
  dynamodb: { code: 'ProvisionedThroughputExceededException', status: 400 },
  firehose: { code: 'ServiceUnavailableException', status: 503 },
  s3: { code: 'SlowDown', status: 503 },
  secretsmanager: { code: 'ThrottlingException', status: 400 },
  sns: { code: 'Throttling', status: 400 },
  sqs: { code: 'RequestThrottled', status: 403 },
};

/**
 * Faults of the AWS endpoint, for tests. By default they do not affect operators, so that a test can inspect
 * and repair a stack while all its calls fail. A fault affects calls that arrive while it is active. A
 * receive that is already waiting for messages still gets them.
 * @example const end = stack.faults.inject({ service: 'dynamodb', kind: 'throttled', share: 0.1 });
 */
export class InjectedFaults {
  /** Number of affected calls by kind of fault. */
  readonly counts: Record<Fault['kind'], number> = {
    down: 0,
    throttled: 0,
    slow: 0,
    'response-lost': 0,
    'response-stalled': 0,
    'records-refused': 0,
  };
  readonly #active = new Map<string, ActiveFault>();
  readonly #seed: number;
  #injected = 0;

  /**
   * @param seed of the random decisions: with the same seed, a fault affects the same calls, counted from the fault's
   * injection
   */
  constructor(seed = 0) {
    this.#seed = seed;
  }

  get active(): (Fault & { readonly id: string; readonly hits: number })[] {
    return [...this.#active].map(([id, { fault, hits }]) => ({ ...fault, id, hits }));
  }

  /**
   * Activates a fault. If several faults apply to a call, the fault that was injected first is used.
   * @returns a function that ends the fault
   * @throws RangeError if the fault contradicts itself or could never apply
   */
  inject(fault: Fault): () => void {
    assertValid(fault);
    const isHit = drawerOf(fault, this.#seed + this.#injected);
    this.#injected += 1;
    const id = String(this.#injected);
    this.#active.set(id, { fault: { ...fault }, isHit, ended: new AbortController(), hits: 0 });
    return () => this.end(id);
  }

  /** Ends a fault. @returns false if no active fault has this id */
  end(id: string): boolean {
    this.#active.get(id)?.ended.abort();
    return this.#active.delete(id);
  }

  /** Ends all faults. The counts are kept. */
  clear(): void {
    for (const id of this.#active.keys()) this.end(id);
  }

  /** Carries out a request with the faults that apply to it. @throws ConnectionLostError if no answer may be sent */
  async disturb(
    request: AwsRequest,
    carryOut: CarryOut,
    byRole: boolean,
    closing: AbortSignal,
  ): Promise<AwsResponse> {
    const drawn = this.#draw(request, byRole);
    if (drawn === undefined) return carryOut(request);
    const { fault, ended, hits } = drawn;
    switch (fault.kind) {
      case 'down':
        throw new ConnectionLostError();
      case 'throttled': {
        const { code, status } = THROTTLING[fault.service];
        throw new AwsError(code, 'Rate exceeded: injected fault', { status });
      }
      case 'slow':
        await sleep(fault.milliseconds, undefined, { signal: closing }).catch(() => {
          throw new ConnectionLostError();
        });
        return carryOut(request);
      case 'response-lost':
        await carryOut(request);
        throw new ConnectionLostError();
      case 'response-stalled':
        return { ...(await carryOut(request)), stalledUntil: AbortSignal.any([ended.signal, closing]) };
      case 'records-refused':
        return putOthers(request, hits, carryOut);
    }
  }

  /** @returns the fault that applies, with a random decision for each record, or a single decision for the call */
  #draw(request: AwsRequest, byRole: boolean) {
    let first: { active: ActiveFault; hits: readonly boolean[] } | undefined;
    for (const active of this.#active.values()) {
      const { fault, isHit } = active;
      if (!concerns(fault, request)) continue;
      if (!byRole && fault.callers !== 'everyone') continue;
      // Every fault decides about every call, so that the decisions of one fault do not depend on other faults.
      const records = objectsOf(request.parameters, 'Records');
      const hits = fault.kind === 'records-refused' ? records.map(isHit) : [isHit()];
      if (hits.includes(true)) first ??= { active, hits };
    }
    if (first === undefined) return undefined;
    const { active, hits } = first;
    active.hits += 1;
    this.counts[active.fault.kind] += 1;
    return { ...active, hits };
  }
}

/** Firehose's answer for a record that it could not accept because of its load. */
const REFUSAL: JsonObject = { ErrorCode: 'ServiceUnavailableException', ErrorMessage: 'Slow down.' };

/**
 * Carries out a `PutRecordBatch` without the refused records.
 * @param isRefused called with the index of a record in the call
 */
async function putOthers(
  request: AwsRequest,
  isRefused: readonly boolean[],
  carryOut: CarryOut,
): Promise<AwsResponse> {
  const Records = objectsOf(request.parameters, 'Records').filter((_, index) => !isRefused[index]);
  const answer =
    Records.length === 0
      ? documentResponse(request, { Encrypted: false, RequestResponses: [] })
      : await carryOut({ ...request, parameters: { ...request.parameters, Records } });
  if (answer.status !== 200) return answer;
  const document = parseJsonObject(answer.body.toString()) ?? {};
  const taken = objectsOf(document, 'RequestResponses').values();
  const responses = isRefused.map((refused) => (refused ? REFUSAL : (taken.next().value ?? REFUSAL)));
  return documentResponse(request, {
    ...document,
    FailedPutCount: responses.filter((response) => isJsonObject(response) && response.ErrorCode).length,
    RequestResponses: responses,
  });
}

function concerns({ service, operation, kind }: Fault, request: AwsRequest): boolean {
  if (kind === 'records-refused' && request.operation !== BATCH) return false;
  return service === request.service && (operation ?? request.operation) === request.operation;
}

function assertValid({ service, operation, kind, milliseconds, share, every }: Fault): void {
  if (kind === 'slow' && milliseconds === undefined) throw new RangeError("'slow' needs its milliseconds");
  if (kind === 'records-refused' && !(service === 'firehose' && (operation ?? BATCH) === BATCH)) {
    throw new RangeError(`'records-refused' is only for Firehose's ${BATCH}`);
  }
  if (share !== undefined && every !== undefined) throw new RangeError('share and every cannot be combined');
  if (share !== undefined && !(share >= 0 && share <= 1)) {
    throw new RangeError(`share must be from 0 to 1, not ${share}`);
  }
  if (every !== undefined && !(Number.isInteger(every) && every >= 1)) {
    throw new RangeError(`every must be a whole number from 1, not ${every}`);
  }
}

/** @returns a function that decides for each call or record whether the fault applies: equally for equal seeds */
function drawerOf({ share = 1, every }: Fault, seed: number): () => boolean {
  let calls = 0;
  return () => {
    calls += 1;
    if (every !== undefined) return calls % every === 0;
    return hash('sha256', `${seed} ${calls}`, 'buffer').readUInt32BE() / 2 ** 32 < share;
  };
}
