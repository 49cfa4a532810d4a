import { listen } from 'local-aws/http-server';
import { CommandError, UsageError } from '../terminal/command-error.ts';

interface WantedPort {
  /** Option that sets the port: `aws-port`, `inspect receiver:<port>`. */
  readonly option: string;
  /** Port to listen on; 0 for any free port. */
  readonly port: number;
}

/**
 * Checks ports before anything else happens, so that all in use are reported at once.
 * @throws CommandError if two ports are the same, or some are in use
 */
export async function assertPorts(wanted: readonly WantedPort[]): Promise<void> {
  const fixed = wanted.filter(({ port }) => port !== 0);
  for (const [port, [one, other]] of Map.groupBy(fixed, ({ port }) => port)) {
    if (other)
      throw new UsageError(`--${one?.option} and --${other.option} must differ, not both be ${port}`);
  }
  const used: WantedPort[] = [];
  for (const one of fixed) if (await isInUse(one.port)) used.push(one);
  if (used.length === 0) return;
  const ports = used.map(({ port }) => port).join(', ');
  const options = used.map(({ option }) => `--${option}`).join(', ');
  throw new CommandError(
    used.length === 1
      ? `Port ${ports} is in use. Stop what uses it, or choose another with ${options}`
      : `Ports ${ports} are in use. Stop what uses them, or choose others with ${options}`,
  );
}

async function isInUse(port: number): Promise<boolean> {
  try {
    const { servers } = await listen({}, () => {}, { port });
    for (const server of servers) server.close();
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return true;
    throw error;
  }
}
