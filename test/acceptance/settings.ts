/** What `npm run acceptance` tells the suite, by the environment variable that carries it. */
export const variable = {
  /** Path of the outputs file. */
  outputs: 'ACCEPTANCE_OUTPUTS',
  /** Name of the run, which is in every identifier that it makes. */
  run: 'ACCEPTANCE_RUN',
  /** How long an effect may take, in seconds. */
  wait: 'ACCEPTANCE_WAIT',
} as const;

/** An identifier of this run and of no other: `acceptance-1f3a…-shop`. */
export function ofThisRun(name: string): string {
  return `${process.env[variable.run]}-${name}`;
}

/** A timestamp of this run: an old one would ring that deliveries come late, where nothing else comes. */
export const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
