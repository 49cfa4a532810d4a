import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { get } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mustRun, start, stop } from './command.ts';

const REGION = 'us-east-1';
const ACCOUNT = '000000000000';

/** How long it may take to answer, in milliseconds: some 3 s are usual. */
const START_LIMIT = 60_000;

export interface Emulator {
  /** For `cdk bootstrap`: `aws://<account>/<region>`. */
  readonly cdkEnvironment: string;
  /** The environment variables of a command that works with it, and no others. */
  readonly environment: Readonly<Record<string, string>>;
  /** The same for a client that addresses buckets by path: queues' addresses name this host. */
  readonly endpoint: string;
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
    await ready(emulator, `https://127.0.0.1:${port}/_ministack/health`, await readFile(certificate));
  } catch (error) {
    await stop(emulator);
    throw new Error(`${(error as Error).message}\n${log}`);
  }
  return {
    cdkEnvironment: `aws://${ACCOUNT}/${REGION}`,
    environment: {
      ...machine,
      // An address rather than a name: the SDK then names a bucket in the path, and not in the host.
      AWS_ENDPOINT_URL: `https://127.0.0.1:${port}`,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_CA_BUNDLE: certificate,
      NODE_EXTRA_CA_CERTS: certificate,
      CDK_DISABLE_CLI_TELEMETRY: 'true',
      npm_config_update_notifier: 'false',
    },
    endpoint: `https://localhost:${port}`,
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

async function ready(emulator: ChildProcess, url: string, ca: Buffer): Promise<void> {
  const deadline = Date.now() + START_LIMIT;
  while (Date.now() < deadline) {
    if (emulator.exitCode !== null) throw new Error(`The emulator ended (${emulator.exitCode})`);
    if (await answers(url, ca)) return;
    await sleep(200);
  }
  throw new Error(`The emulator did not answer within ${START_LIMIT} ms`);
}

function answers(url: string, ca: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { ca, agent: false, timeout: 5_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}
