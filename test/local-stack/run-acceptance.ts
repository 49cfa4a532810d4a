import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs `npm run acceptance -- …` as in a shell with no AWS settings but the given ones.
 * @returns the exit code, and all that it wrote
 */
export async function runAcceptance(
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['tools/cli/commands/entry.js', 'acceptance', ...args], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      // Credentials of the person at this machine are in files below it, and those of a server at a fixed address.
      HOME: '/nonexistent',
      AWS_EC2_METADATA_DISABLED: 'true',
      ...settings,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}
