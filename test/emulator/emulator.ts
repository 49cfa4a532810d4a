import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { get } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { mustRun, start, stop } from './command.ts';

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
