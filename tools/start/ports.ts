import { listen } from '../../local/listen.ts';
import { CommandError } from '../terminal/command-error.ts';

/** A port that the stack is to listen on. */
export interface WantedPort {
  /** That names it, and chooses another: `aws-port`, `inspect receiver:<port>`. */
  readonly option: string;
  /** 0 for any free one. */
  readonly port: number;
}

/**
 * Before the stack is synthesised, so that a port in use is told at once.
 * @throws CommandError where two are the same, or one is in use
 */
export async function assertPorts(ports: readonly WantedPort[]): Promise<void> {
  for (const [index, { option, port }] of ports.entries()) {
    const same = ports.slice(index + 1).find((other) => other.port === port && port !== 0);
    if (same !== undefined) {
      throw new CommandError(`--${option} and --${same.option} must differ, not both be ${port}`);
    }
  }
  for (const { port } of ports) {
    await namingPorts(ports, async () => {
      const { servers } = await listen({}, () => {}, { port });
      for (const server of servers) server.close();
    });
  }
}

/**
 * Runs what listens on the ports: one may have been taken since they were looked at.
 * @throws CommandError that names the option of the one that is in use
 */
export async function namingPorts<T>(ports: readonly WantedPort[], run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const { code, port } = error as NodeJS.ErrnoException & { port?: number };
    if (code !== 'EADDRINUSE') throw error;
    const option = ports.find((wanted) => wanted.port === port)?.option ?? 'port';
    throw new CommandError(`Port ${port} is in use. Stop what uses it, or choose another with --${option}`);
  }
}
