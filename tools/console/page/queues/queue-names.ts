/** What the name of a queue in an address stands for; `dead:shop.updated` is the dead letters of an event. */
export interface NamedQueue {
  readonly event: string | undefined;
  readonly isDead: boolean;
}

const DEAD = 'dead:';

export function namedQueue(name: string): NamedQueue {
  if (name === 'quarantine' || name === 'unrouted') return { event: undefined, isDead: false };
  return name.startsWith(DEAD)
    ? { event: name.slice(DEAD.length), isDead: true }
    : { event: name, isDead: false };
}

export const deadName = (event: string) => `${DEAD}${event}`;

/** A user or role by the last part of its ARN: `mara` of `arn:aws:sts::123456789012:assumed-role/Operator/mara`. */
export function callerName(arn: string): string {
  return arn.split('/').at(-1) || arn;
}
