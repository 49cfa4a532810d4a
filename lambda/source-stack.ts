import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

/** Maximum number of frames in a log line: the innermost ones. */
export const MAX_FRAMES = 10;

/** The text after the folder in a line of a stack, such as `index.mjs:12:3456)`. */
const POSITION = /^([\w-]+\.mjs):(\d{1,7}):(\d{1,7})\)?$/;

/** The source maps of a bundle's files. Each is read when it is first needed. */
export class SourceMaps {
  readonly #folder: string;
  readonly #maps = new Map<string, SourceMap | undefined>();

  /** @param folder `file:` URL that ends in a slash. It must have no symbolic links, because frames have none */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * The source position for one line of a stack: `lambda/effects/cast.ts:84`, or the folder of a package,
   * `node_modules/@smithy/core`. All of this text comes from the map, and none from the line, which could be part of a
   * message.
   * @returns undefined if the line is no frame of the bundle, or no map has its position
   */
  sourcePosition(line: string): string | undefined {
    const folderAt = line.lastIndexOf(this.#folder);
    if (folderAt === -1) return undefined;
    const [, file, row, column] = POSITION.exec(line.slice(folderAt + this.#folder.length)) ?? [];
    const origin = file && this.#mapOf(file)?.findOrigin(Number(row), Number(column));
    if (!origin || !('fileName' in origin)) return undefined;
    const { fileName, lineNumber } = origin;
    return fileName.startsWith('node_modules/') ? fileName : `${fileName}:${lineNumber}`;
  }

  #mapOf(file: string): SourceMap | undefined {
    if (!this.#maps.has(file)) this.#maps.set(file, this.#read(file));
    return this.#maps.get(file);
  }

  /** @returns undefined if there is no such file */
  #read(file: string): SourceMap | undefined {
    try {
      return new SourceMap(JSON.parse(readFileSync(new URL(`${file}.map`, this.#folder), 'utf8')));
    } catch {
      return undefined;
    }
  }
}

const ownMaps = new SourceMaps(new URL('.', import.meta.url).href);

/**
 * The source positions of an error, innermost call first. Imported on demand, because few invocations log an error.
 * @param maps of the bundle in which it happened. @default this one's
 */
export function sourceStack({ stack = '', message }: Error, maps = ownMaps): string[] {
  // The stack begins with name and message, and a message may have lines that look like frames. A message that was
  // changed later is not in the stack.
  const messageAt = stack.indexOf(message);
  const afterMessage = messageAt === -1 ? stack : stack.slice(messageAt + message.length);
  return (
    afterMessage
      .split('\n')
      .slice(1)
      .map((line) => maps.sourcePosition(line))
      .filter((position) => position !== undefined)
      // Calls within a package look the same.
      .filter((position, index, positions) => position !== positions[index - 1])
      .slice(0, MAX_FRAMES)
  );
}
