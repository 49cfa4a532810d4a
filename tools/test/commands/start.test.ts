import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readCloudAssembly } from 'local-aws/template';
import { stageOverrides } from '../../../bin/synthesise.ts';
import { catalogue, eventNames } from '../../../lambda/events/catalogue.ts';
import type { EffectName } from '../../../lambda/events/definition.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { sharedAssembly, testAssembly } from '../../../test/support/test-assembly.ts';
import { freePort, Project, type Running, refusal } from './project.ts';

const SOURCE = 'lambda/events/shop-updated/consumer.ts';
/** A line in the consumer of shop.updated. */
const CALL = 'invalidateShop({';

let project: Project;
let stack: Running;
let port: number;
let awsPort: number;
let inspectPort: number;

beforeAll(async () => {
  project = await Project.create({ copied: ['lambda', 'tools'] });
  await project.cacheAssembly();
  port = await freePort();
  awsPort = await freePort();
  inspectPort = await freePort();
  const options = ['--inspect', `shop.updated:${inspectPort}`, '--retry-fast', '--no-watch'];
  stack = await project.startStack('--port', String(port), '--aws-port', String(awsPort), ...options);
});

afterAll(async () => {
  stack?.interrupt();
  await stack?.ended;
  await project?.remove();
});

const read = (file: string) => JSON.parse(readFileSync(project.path(file), 'utf8'));
const outputs = () => read('.local/outputs.json');

describe('a running stack', () => {
  test('prints its addresses', () => {
    expect(stack.stdout()).toContain(`http://localhost:${port}/api/v1/webhooks/partner`);
    expect(stack.stdout()).toContain(`http://localhost:${awsPort}`);
  });

  test('writes its outputs like `cdk deploy --outputs-file`', () => {
    const { name, template } = readCloudAssembly(testAssembly());
    const texts = Object.keys(template.Outputs).map((output) => [output, expect.any(String)]);
    expect(outputs()).toEqual({ [name]: Object.fromEntries(texts) });
  });

  test('has a console, whose address and token only its owner can read', async () => {
    const { url, token } = read('.local/console.json');
    expect(stack.stdout()).toContain(`  Console   ${url}\n  Webhook   `);
    expect(statSync(project.path('.local/console.json')).mode & 0o777).toBe(0o600);
    const page = await fetch(url);
    expect(page.headers.get('set-cookie')).toContain(`=${token};`);
  });

  test('redirects a browser at the port of the webhook or of AWS to its console', async () => {
    for (const opened of [port, awsPort]) {
      const page = await fetch(`http://localhost:${opened}/`, {
        headers: { accept: 'text/html,application/xhtml+xml' },
      });
      expect(await page.text()).toContain('<script type="module" src="/console.js">');
    }
  });

  test('is found by `send`, and shows the delivery', async () => {
    const sent = await project.run(['send', 'user.updated']);
    expect(sent).toMatchObject({ code: 0, stdout: expect.stringMatching(/^200 queued /) });
    await eventually(async () => / 200 +POST \/api\/v1\/webhooks\/partner/.test(stack.stdout()) || undefined);
  });
});

describe('invoke', () => {
  test.each([['events/api-gateway/shop-updated.json'], ['user.updated']])(
    'gives the receiver %s, signed with the local secret',
    async (event) => {
      const { code, stdout } = await project.type(['invoke', 'receiver', event]);
      expect({ code, result: JSON.parse(stdout) }).toEqual({
        code: 0,
        result: expect.objectContaining({ statusCode: 200 }),
      });
    },
  );

  test('uses the sample of a consumer by default', async () => {
    const consumer = await project.run(['invoke', 'girl.created']);
    expect({ code: consumer.code, result: JSON.parse(consumer.stdout) }).toEqual({
      code: 0,
      result: { batchItemFailures: [] },
    });
    const again = await project.type(['invoke', 'girl.created']);
    expect(again.stderr).toMatch(/Skipped: /);
  });

  test('shows the error of a handler, and nothing else', async () => {
    const file = project.path('no-event.json');
    const { Records } = JSON.parse(readFileSync('events/sqs/shop-updated.json', 'utf8'));
    // The key of another event's payload, which the consumer may not read. So the attempt fails and is retried.
    Records[0].messageAttributes.payloadKey = { dataType: 'String', stringValue: 'another.event/none' };
    await writeFile(file, JSON.stringify({ Records }));
    const { stdout, stderr } = await project.type(['invoke', 'shop.updated', file]);
    expect(JSON.parse(stdout).batchItemFailures).toHaveLength(1);
    expect(stderr).toContain('Failed');
    expect(stderr).not.toContain('RetryNotDelayed');
  });

  const functions = [...eventNames, 'receiver', 'smoke-test'].join(', ');
  test.each([
    { args: ['receiver'], line: `Which event for receiver? A file, or one of: ${eventNames.join(', ')}` },
    {
      args: ['shop.updatd'],
      line: `No function 'shop.updatd'. Did you mean shop.updated? One of: ${functions}`,
    },
    { args: ['receiver', 'shop.updatd'], line: 'No file or event shop.updatd. Did you mean shop.updated?' },
    { args: ['receiver', 'LICENSE'], line: 'LICENSE is not JSON', code: 1 },
  ])('refuses $args in one line', async ({ args, line, code = 2 }) => {
    expect(await project.type(['invoke', ...args])).toEqual(refusal(line, code));
  });
});

describe('start --inspect', () => {
  test('prints the port, and that retries are fast', () => {
    expect(stack.stdout()).toContain(`Debug shop.updated at 127.0.0.1:${inspectPort}:`);
    expect(stack.stdout()).toContain('Retries are fast:');
  });

  test('prints no other port: each execution environment has its own', () => {
    const printed = `${stack.stdout()}${stack.stderr()}`.matchAll(/127\.0\.0\.1:(\d+)/g);
    expect(new Set([...printed].map(([, digits]) => Number(digits)))).toEqual(new Set([inspectPort]));
  });

  // Takes 7 s: waits until the message would be visible again with `--retry-fast`, because it must not be
  // received twice.
  test('stops at a breakpoint in the source, and continues to the effect', async () => {
    const client = await DebuggerClient.attach(inspectPort);
    await client.breakAt(CALL);
    const sent = project.type(['send', 'shop.updated', '--wait']);
    const { url, line } = await client.paused();
    expect(url).toBe(pathToFileURL(realpathSync(project.path(SOURCE))).href);
    expect(readFileSync(SOURCE, 'utf8').split('\n')[line - 1]).toContain(CALL);
    await sleep(6_000);
    await client.resume();
    const { code, stdout } = await sent;
    expect({ code, attempts: stdout.match(/attempt 1/g)?.length }).toEqual({ code: 0, attempts: 1 });
    client.close();
  });
});

describe('a second stack', () => {
  let second: Running;
  let at: number;
  let before: { readonly outputs: unknown; readonly files: readonly string[] };

  beforeAll(async () => {
    before = { outputs: outputs(), files: readdirSync(project.path('.local')) };
    at = await freePort();
    const rest = stageOverrides({ gateway: 'rest' });
    await project.cacheAssembly(await sharedAssembly('rest', rest, false), rest);
    const ports = ['--port', '0', '--aws-port', '0', '--inspect', `shop.updated:${at}`];
    second = await project.startStack('--gateway', 'rest', ...ports);
  });

  test('uses a saved consumer', async () => {
    const source = readFileSync(SOURCE, 'utf8');
    const saved = source.replace('export const handler', "console.log('by new code');\nexport const handler");
    await writeFile(project.path(SOURCE), saved);
    await eventually(async () => /^Rebuilt shop\.updated in/m.test(second.stdout()) || undefined);
    expect(second.stdout()).toContain('by new code');
  });

  test('is found by commands, until Ctrl-C ends it at a breakpoint', async () => {
    const client = await DebuggerClient.attach(at);
    await client.breakAt(CALL);
    const { WebhookUrl } = Object.values<{ WebhookUrl: string }>(outputs())[0] ?? {};
    const { headers } = await fetch(String(WebhookUrl), { method: 'POST' });
    expect(headers.has('x-amz-apigw-id')).toBe(true);
    await project.type(['send', 'shop.updated']);
    await client.paused();
    // A terminal and npm both send the signal of one Ctrl-C. A later one could meet a process that has almost ended.
    second.interrupt();
    second.interrupt();
    expect(await second.ended).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\nStopped: 2 requests served, \d+ MB of memory at most\n$/),
    });
    expect(outputs()).toEqual(before.outputs);
    // A command that has just ended may still remove a folder of its own.
    expect(before.files).toEqual(expect.arrayContaining(readdirSync(project.path('.local'))));
  });

  test('does not change the first one, which runs with --no-watch', async () => {
    expect(await project.type(['send', 'shop.updated', '--wait'])).toMatchObject({ code: 0 });
    expect(stack.stdout()).toMatch(/ shop-updated +INFO/);
    expect(stack.stdout()).not.toMatch(/by new code|Rebuilt/);
  });
});

test('send --wait prints the effect of each event, and so does trace', async () => {
  const effects: Record<EffectName, string> = {
    'shop-cache': 'ShopCacheTable: shop_id=',
    cast: 'CastTable: girl_id=',
    'contact-partner': 'ContactPartnerTable: user_id=',
    chat: 'Notification on ChatTopicArn: ',
    review: 'Notification on ReviewTopicArn: ',
  };
  let last = { eventId: '', effect: '' };
  for (const event of eventNames) {
    const { code, stdout } = await project.type(['send', event, '--wait']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        new RegExp(`^200 queued[^]*\nProcessed: .*\n${effects[catalogue[event].effect]}`),
      ),
    });
    last = { eventId: /event (\w+)/.exec(stdout)?.[1] ?? '', effect: effects[catalogue[event].effect] };
  }
  const { stdout } = await project.type(['trace', last.eventId]);
  expect(stdout).toContain(`\n${last.effect}`);
});

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
}

interface Script {
  readonly scriptId: string;
  readonly url: string;
  readonly sourceMapURL?: string;
}

/** A position in a script, from 0. */
interface Location {
  readonly scriptId: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** A client of the Chrome DevTools Protocol that uses source maps, as an editor does. */
class DebuggerClient {
  readonly #socket: WebSocket;
  readonly #scripts = new Map<string, Script>();
  readonly #answers = new Map<number, () => void>();
  readonly #pauses: Location[] = [];

  static async attach(port: number): Promise<DebuggerClient> {
    const targets = await eventually(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/json`).catch(() => undefined);
      return response && ((await response.json()) as { webSocketDebuggerUrl: string }[]);
    });
    const client = new DebuggerClient(new WebSocket(targets[0]?.webSocketDebuggerUrl ?? ''));
    await new Promise((resolve) => client.#socket.addEventListener('open', resolve, { once: true }));
    await client.#send('Runtime.enable');
    await client.#send('Debugger.enable');
    return client;
  }

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data)) as Message));
  }

  /** Sets a breakpoint at the last occurrence of a text in a script that has a source map. */
  async breakAt(text: string): Promise<void> {
    for (const { url, sourceMapURL } of this.#scripts.values()) {
      if (!url.startsWith('file:') || !sourceMapURL) continue;
      const before = readFileSync(fileURLToPath(url), 'utf8').split(text).slice(0, -1).join(text).split('\n');
      if (before.join('') === '') continue;
      const columnNumber = before.at(-1)?.length;
      await this.#send('Debugger.setBreakpointByUrl', { url, lineNumber: before.length - 1, columnNumber });
    }
  }

  /** @returns the position in the source, its line from 1 */
  async paused(): Promise<{ url: string; line: number }> {
    const { scriptId, lineNumber, columnNumber } = await eventually(async () => this.#pauses.shift());
    const { url = '', sourceMapURL = '' } = this.#scripts.get(scriptId) ?? {};
    const map = new SourceMap(JSON.parse(readFileSync(fileURLToPath(new URL(sourceMapURL, url)), 'utf8')));
    const origin = map.findEntry(lineNumber, columnNumber);
    if (!('originalSource' in origin)) throw new Error(`The map of ${url} has no line ${lineNumber}`);
    return { url: new URL(origin.originalSource, url).href, line: origin.originalLine + 1 };
  }

  async resume(): Promise<void> {
    await this.#send('Debugger.resume');
  }

  close(): void {
    this.#socket.close();
  }

  #send(method: string, params: object = {}): Promise<void> {
    const id = this.#answers.size;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => this.#answers.set(id, resolve));
  }

  #receive({ id, method, params }: Message): void {
    if (id !== undefined) this.#answers.get(id)?.();
    if (method === 'Debugger.scriptParsed') {
      const script = params as Script;
      this.#scripts.set(script.scriptId, script);
    }
    if (method === 'Debugger.paused') {
      const { callFrames } = params as { callFrames: readonly { location: Location }[] };
      this.#pauses.push(...callFrames.slice(0, 1).map(({ location }) => location));
    }
  }
}
