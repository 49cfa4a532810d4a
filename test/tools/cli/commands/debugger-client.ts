import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../../support/eventually.ts';

interface Message {
  readonly id?: number;
  readonly method?: string;
  // What comes of the Chrome DevTools Protocol is as wide as that protocol.
  readonly params?: Readonly<Record<string, never>>;
  readonly result?: Readonly<Record<string, never>>;
  readonly error?: { readonly message: string };
}

interface Script {
  readonly scriptId: string;
  readonly url: string;
  readonly sourceMapURL?: string;
}

interface Location {
  readonly scriptId: string;
  /** From 0, as the column. */
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** Where a source says that something is. Lines from 1. */
export interface Place {
  readonly url: string;
  readonly line: number;
}

/** A debugger, as an editor is one: it speaks the Chrome DevTools Protocol, and follows source maps. */
export class DebuggerClient {
  readonly #socket: WebSocket;
  readonly #scripts = new Map<string, Script>();
  readonly #answers = new Map<number, (message: Message) => void>();
  readonly #pauses: Location[] = [];
  #sent = 0;

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

  /** Sets a breakpoint at the last line of a source that has a text. @returns the line, from 1 */
  async breakAt(source: string, text: string): Promise<number> {
    const lines = readFileSync(fileURLToPath(source), 'utf8').split('\n');
    const line = lines.findLastIndex((candidate) => candidate.includes(text)) + 1;
    for (const { url, sourceMapURL } of this.#scripts.values()) {
      if (!sourceMapURL) continue;
      const position = positionIn(url, sourceMapURL, { url: source, line });
      if (position === undefined) continue;
      await this.#send('Debugger.setBreakpointByUrl', { url, ...position });
      return line;
    }
    throw new Error(`No script has a source map to ${source}:${line}`);
  }

  /** @returns where it stands */
  paused(): Promise<Location> {
    return eventually(async () => this.#pauses.shift());
  }

  sourceOf({ scriptId, lineNumber, columnNumber }: Location): Place {
    const { url = '', sourceMapURL = '' } = this.#scripts.get(scriptId) ?? {};
    const origin = mapOf(url, sourceMapURL).findEntry(lineNumber, columnNumber);
    if (!('originalSource' in origin))
      throw new Error(`The map of ${url} does not know its line ${lineNumber}`);
    return { url: new URL(origin.originalSource, url).href, line: origin.originalLine + 1 };
  }

  async resume(): Promise<void> {
    await this.#send('Debugger.resume');
  }

  close(): void {
    this.#socket.close();
  }

  #send(method: string, params: object = {}): Promise<Message> {
    this.#sent += 1;
    const id = this.#sent;
    return new Promise((resolve, reject) => {
      this.#answers.set(id, (message) =>
        message.error === undefined ? resolve(message) : reject(new Error(message.error.message)),
      );
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  #receive({ id, method, params, ...rest }: Message): void {
    if (id !== undefined) this.#answers.get(id)?.(rest);
    if (method === 'Debugger.scriptParsed') {
      const script = params as unknown as Script;
      this.#scripts.set(script.scriptId, script);
    }
    if (method === 'Debugger.paused') {
      const { callFrames } = params as unknown as { callFrames: { location: Location }[] };
      const location = callFrames[0]?.location;
      if (location !== undefined) this.#pauses.push(location);
    }
  }
}

const mapOf = (script: string, sourceMapURL: string) =>
  new SourceMap(JSON.parse(readFileSync(fileURLToPath(new URL(sourceMapURL, script)), 'utf8')));

/** The first place in a script that comes from a line of a source. */
function positionIn(script: string, sourceMapURL: string, { url, line }: Place) {
  if (!script.startsWith('file:') || sourceMapURL.startsWith('data:')) return undefined;
  const map = mapOf(script, sourceMapURL);
  if (!map.payload.sources.some((source) => new URL(source, script).href === url)) return undefined;
  const text = readFileSync(fileURLToPath(script), 'utf8').split('\n');
  for (const [lineNumber, { length }] of text.entries()) {
    for (let columnNumber = 0; columnNumber < length; columnNumber += 1) {
      const entry = map.findEntry(lineNumber, columnNumber);
      if (!('originalSource' in entry) || entry.originalLine !== line - 1) continue;
      if (new URL(entry.originalSource, script).href === url && entry.generatedLine === lineNumber) {
        return { lineNumber, columnNumber: entry.generatedColumn };
      }
    }
  }
  return undefined;
}
