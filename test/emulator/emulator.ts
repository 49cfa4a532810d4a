import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { get } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

const REGION = 'us-east-1';
const ACCOUNT = '000000000000';

/** The account's root, which may do everything. */
const ROOT = { accessKeyId: 'test', secretAccessKey: 'test' };

/** How long it may take to answer, in milliseconds: some 3 s are usual. */
const START_LIMIT = 60_000;

/** How an AWS client of this process reaches the emulator. */
export interface ClientSettings {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

export interface Emulator {
  /** For `cdk bootstrap`: `aws://<account>/<region>`. */
  readonly cdkEnvironment: string;
  /** The environment variables of a command that works with it, and no others. */
  readonly environment: Readonly<Record<string, string>>;
  /** The endpoint by the name that it gives itself, for what addresses buckets by path. */
  readonly endpoint: string;
  readonly settings: ClientSettings;
  /** All that it wrote so far. */
  log(): string;
  stop(): Promise<void>;
}

/**
 * Starts MiniStack on a free port, with HTTPS as AWS has and with IAM enforced. What it keeps is in a folder
 * that belongs to it; nothing of this machine's settings reaches it, or a function that it runs.
 * @param python of the environment that it is installed in
 * @param folder for certificate, state and home folder
 * @throws Error with its log where it does not start
 */
export async function startEmulator(python: string, folder: string): Promise<Emulator> {
  const port = await freePort();
  const machine = {
    // Its functions run on the `node` of the path: the one that runs this, which is Lambda's version.
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: folder,
    TMPDIR: folder,
    LANG: 'C.UTF-8',
  };
  const { certificate, key } = await makeCertificate(folder, machine);
  setDefaultCACertificates([...getCACertificates(), await readFile(certificate, 'utf8')]);
  const emulator = start(
    [
      python,
      'test/emulator/start_ministack.py',
      'ministack.app:app',
      // In this process: a worker process would not have the correction.
      '--workers=0',
      `--bind=127.0.0.1:${port}`,
      `--certfile=${certificate}`,
      `--keyfile=${key}`,
    ],
    {
      ...machine,
      // Its own modules are in this project's folders.
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
  // An address rather than a name: the SDK then names a bucket in the path, and not in the host.
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
      npm_config_update_notifier: 'false',
    },
    endpoint: `https://localhost:${port}`,
    settings: { endpoint: address, region: REGION, credentials: ROOT },
    log: () => log,
    stop: () => stop(emulator),
  };
}

/** A certificate for this machine and the API's host names. @throws Error where openssl is missing */
async function makeCertificate(
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ certificate: string; key: string }> {
  const certificate = join(folder, 'certificate.pem');
  const key = join(folder, 'key.pem');
  const command = [
    'openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost',
    '-addext basicConstraints=critical,CA:FALSE',
    '-addext subjectAltName=DNS:localhost,DNS:*.execute-api.localhost,IP:127.0.0.1',
  ].join(' ');
  await mustRun([...command.split(' '), '-keyout', key, '-out', certificate], environment);
  return { certificate, key };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function ready(emulator: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + START_LIMIT;
  while (Date.now() < deadline) {
    if (emulator.exitCode !== null) throw new Error(`The emulator ended (${emulator.exitCode})`);
    if (await answers(url)) return;
    await sleep(200);
  }
  throw new Error(`The emulator did not answer within ${START_LIMIT} ms`);
}

function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: 5_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}

export interface Ended {
  readonly code: number | null;
  /** All that it wrote. */
  readonly output: string;
}

/** Process groups of this run that have not ended, by their leader's id. */
const running = new Set<number>();

/** Kills whatever still runs, at once. For the end of the process: nothing may outlive it. */
export function killAll(): void {
  for (const group of running) signal(group, 'SIGKILL');
}

/** Starts a command in a process group of its own, so that it can be ended with all that it started. */
export function start([file = '', ...args]: readonly string[], environment: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(file, args, { env: environment, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const { pid } = child;
  if (pid !== undefined) {
    running.add(pid);
    child.once('close', () => running.delete(pid));
  }
  return child;
}

/**
 * Runs a command to its end.
 * @param onOutput is told what it writes, as it comes
 * @throws Error where it cannot be started
 */
export async function run(
  command: readonly string[],
  environment: NodeJS.ProcessEnv,
  onOutput: (text: string) => void = () => {},
): Promise<Ended> {
  const child = start(command, environment);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      onOutput(text);
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

/** Runs a command that has to succeed. @throws Error with all that it wrote, where it fails */
export async function mustRun(command: readonly string[], environment: NodeJS.ProcessEnv): Promise<string> {
  const { code, output } = await run(command, environment);
  if (code !== 0) throw new Error(`${command.join(' ')} failed (${code}):\n${output}`);
  return output;
}

/** Ends a command and all that it started: with time to clean up, then without. */
export async function stop(child: ChildProcess): Promise<void> {
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
    // It has ended meanwhile.
  }
}

/** Where a REST API says it is: it has no attribute for that, and the emulator takes AWS' own domain for granted. */
const AT_AWS = /(?<=https:\/\/[a-z0-9]+\.execute-api\.)[a-z0-9-]+\.amazonaws\.com/g;

/**
 * Has the addresses of APIs in an outputs file lead to the emulator, where they lead to AWS.
 * @param endpoint of the emulator, by its name
 */
export function leadToEmulator(outputsFile: string, endpoint: string): void {
  const outputs = readFileSync(outputsFile, 'utf8');
  writeFileSync(outputsFile, outputs.replace(AT_AWS, new URL(endpoint).host));
}

type Fields = Readonly<Record<string, unknown>>;

/** A stage of `cdk.json`, or one of the test's own. */
export interface Stage {
  readonly name: string;
  /** The stage of `cdk.json` that it is made from. @default that of its name */
  readonly like?: string;
  /** What it has otherwise than that one. */
  readonly fields?: Fields;
}

/** All that a stage is told. */
export function fieldsOf({ name, like = name, fields = {} }: Stage): Fields {
  const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  return { ...context.stages[like], ...fields };
}

/** Options of `cdk` by which it works with a stage. */
export function optionsOf(stage: Stage): string[] {
  const { name, like, fields } = stage;
  if (like === undefined && fields === undefined) return ['--context', `stage=${name}`];
  return ['--context', `stage=${name}`, '--context', `stages=${JSON.stringify({ [name]: fieldsOf(stage) })}`];
}
