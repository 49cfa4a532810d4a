import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { makeCertificate } from 'local-aws/http-server';
import { freePort } from '../commands/project.ts';

const REGION = 'us-east-1';
const ACCOUNT = '000000000000';

/** The account's root user, which has all permissions. */
const ROOT = { accessKeyId: 'test', secretAccessKey: 'test' };

/** Names of this computer and of the APIs, in the form of openssl. */
const NAMES = 'DNS:localhost,DNS:*.execute-api.localhost,IP:127.0.0.1';

/** Timeout of the start in milliseconds. It usually takes about 3 s. */
const START_LIMIT = 60_000;

export interface Emulator {
  /** Environment for `cdk bootstrap`: `aws://<account>/<region>`. */
  readonly cdkEnvironment: string;
  /** All environment variables of a command that uses the emulator. */
  readonly environment: Readonly<Record<string, string>>;
  /** The endpoint with its host name, for clients that put the bucket's name in the path. */
  readonly endpoint: string;
  log(): string;
  stop(): Promise<void>;
}

/**
 * Starts MiniStack on a free port, with HTTPS as in AWS and with IAM enforced. MiniStack's data is in its own folder.
 * No settings of this computer reach MiniStack, or a function that it runs.
 * @param python of the environment in which MiniStack is installed
 * @param folder for certificate, state and home folder
 * @throws Error with MiniStack's log if it does not start
 */
export async function startEmulator(python: string, folder: string): Promise<Emulator> {
  const port = await freePort();
  const machine = {
    // The emulator runs functions with the first `node` in the path: this one, whose version is Lambda's.
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: folder,
    TMPDIR: folder,
    LANG: 'C.UTF-8',
  };
  const { file: certificate, cert } = await makeCertificate(folder, NAMES);
  const key = join(folder, 'key.pem');
  // For the check whether it is ready.
  setDefaultCACertificates([...getCACertificates(), cert]);
  const emulator = start(
    [
      python,
      'tools/test/emulator/start_ministack.py',
      'ministack.app:app',
      // Worker processes would not have the patch.
      '--workers=0',
      `--bind=127.0.0.1:${port}`,
      `--certfile=${certificate}`,
      `--keyfile=${key}`,
    ],
    {
      ...machine,
      // Python's cache files would otherwise be written into folders of this project.
      PYTHONDONTWRITEBYTECODE: '1',
      GATEWAY_PORT: String(port),
      AUTH: 'true',
      LAMBDA_EXECUTOR: 'local',
      USE_SSL: '1',
      MINISTACK_SSL_CERT: certificate,
      MINISTACK_SSL_KEY: key,
    },
  );
  let log = '';
  for (const stream of [emulator.stdout, emulator.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  try {
    await ready(emulator, `https://127.0.0.1:${port}/_ministack/health`);
  } catch (error) {
    await stop(emulator);
    throw new Error(`${(error as Error).message}\n${log}`);
  }
  // With an IP address, the SDK puts a bucket's name in the path and not in the host.
  const address = `https://127.0.0.1:${port}`;
  return {
    cdkEnvironment: `aws://${ACCOUNT}/${REGION}`,
    environment: {
      ...machine,
      AWS_ENDPOINT_URL: address,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: ROOT.accessKeyId,
      AWS_SECRET_ACCESS_KEY: ROOT.secretAccessKey,
      AWS_CA_BUNDLE: certificate,
      NODE_EXTRA_CA_CERTS: certificate,
      CDK_DISABLE_CLI_TELEMETRY: 'true',
      // Templates are not validated here: `npm test` validates the templates of every stage.
      CDK_VALIDATION: 'false',
      // A compile cache saves time, because each command loads the CDK or the SDK.
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
      npm_config_update_notifier: 'false',
    },
    endpoint: `https://localhost:${port}`,
    log: () => log,
    stop: () => stop(emulator),
  };
}

/** Waits until the emulator answers. */
async function ready(emulator: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + START_LIMIT;
  while (Date.now() < deadline) {
    if (emulator.exitCode !== null) throw new Error(`The emulator ended (${emulator.exitCode})`);
    if ((await fetch(url).catch(() => undefined))?.ok) return;
    await sleep(200);
  }
  throw new Error(`The emulator did not answer within ${START_LIMIT} ms`);
}

/** Ids of the process groups that this run started and that have not ended. */
const running = new Set<number>();

/** Kills all processes that still run. Called at the end of this process, because none may outlive it. */
export function killAll(): void {
  for (const group of running) signal(group, 'SIGKILL');
}

/** Starts a command in a process group of its own, so that its child processes can be ended, too. */
function start([file = '', ...args]: readonly string[], environment: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(file, args, { env: environment, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const { pid } = child;
  if (pid !== undefined) {
    running.add(pid);
    child.once('close', () => running.delete(pid));
  }
  return child;
}

/**
 * Runs a command that must succeed.
 * @param onOutput called with output as it arrives
 * @throws Error with its output if it fails
 */
export async function mustRun(
  command: readonly string[],
  environment: NodeJS.ProcessEnv,
  onOutput: (text: string) => void = () => {},
): Promise<void> {
  const child = start(command, environment);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      onOutput(text);
    });
  }
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command.join(' ')} failed (${code}):\n${output}`);
}

/** Ends a command and all its child processes: first with time to clean up, then by force. */
async function stop(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined || !running.has(pid)) return;
  const closed = once(child, 'close');
  signal(pid, 'SIGTERM');
  const timer = setTimeout(() => signal(pid, 'SIGKILL'), 5_000);
  await closed;
  clearTimeout(timer);
}

function signal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name);
  } catch {
    // Ignored: the process has already ended.
  }
}
