import { listen } from 'local-aws/gateway';
import { CommandError, UsageError } from '../terminal/command-error.ts';

export interface WantedPort {
  /** Option that sets the port: `aws-port`, `inspect receiver:<port>`. */
  readonly option: string;
  /** Port to listen on; 0 for any free port. */
  readonly port: number;
}

/**
 * Checks ports before the stack is synthesised, so that all in use are reported at once.
 * @throws CommandError if two ports are the same, or some are in use
 */
export async function assertPorts(ports: readonly WantedPort[]): Promise<void> {
  for (const [index, { option, port }] of ports.entries()) {
    const same = ports.slice(index + 1).find((other) => other.port === port && port !== 0);
    if (same !== undefined) {
      throw new UsageError(`--${option} and --${same.option} must differ, not both be ${port}`);
    }
  }
  const used: WantedPort[] = [];
  for (const wanted of ports) if (await isInUse(wanted)) used.push(wanted);
  if (used.length > 0) throw inUse(used);
}

async function isInUse({ port }: WantedPort): Promise<boolean> {
  try {
    const { servers } = await listen({}, () => {}, { port });
    for (const server of servers) server.close();
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return true;
    throw error;
  }
}

function inUse(ports: readonly WantedPort[]): CommandError {
  const numbers = ports.map(({ port }) => port).join(', ');
  const options = ports.map(({ option }) => `--${option}`).join(', ');
  return new CommandError(
    ports.length === 1
      ? `Port ${numbers} is in use. Stop what uses it, or choose another with ${options}`
      : `Ports ${numbers} are in use. Stop what uses them, or choose others with ${options}`,
  );
}

/**
 * Runs code that listens on ports, which may have been taken since the check.
 * @throws CommandError that names the option of the port in use
 */
export async function withPortErrors<T>(ports: readonly WantedPort[], run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const { code, port } = error as NodeJS.ErrnoException & { port?: number };
    if (code !== 'EADDRINUSE') throw error;
    const option = ports.find((wanted) => wanted.port === port)?.option ?? 'port';
    throw inUse([{ option, port: port ?? 0 }]);
  }
}
