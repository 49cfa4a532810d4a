import { existsSync, readFileSync } from 'node:fs';
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
   * The source position for one line of a stack: `lambda/effects/cast.ts:84 in Cast.#put`, or the folder of a package,
   * `node_modules/@smithy/core`. All of this text comes from the map, and none from the line, which could be part of a
   * message.
   * @returns undefined if the line is no frame of the bundle, or no map has its position
   */
  place(line: string): string | undefined {
    const position = this.#position(line);
    const origin = position && this.#mapOf(position.file)?.findOrigin(position.line, position.column);
    if (origin === undefined || !('fileName' in origin)) return undefined;
    const { fileName, lineNumber, name } = origin;
    if (fileName.startsWith('node_modules/')) return fileName;
    return name === undefined ? `${fileName}:${lineNumber}` : `${fileName}:${lineNumber} in ${name}`;
  }

  /** The position in the bundle itself, marked as such, for a line that {@link place} cannot resolve. */
  minifiedPlace(stackLine: string): string | undefined {
    const { file, line, column } = this.#position(stackLine) ?? {};
    return file && `${file}:${line}:${column} (minified)`;
  }

  /** @returns undefined if the line is no frame of one of the bundle's files. Line and column count from 1. */
  #position(stackLine: string): { file: string; line: number; column: number } | undefined {
    const folderAt = stackLine.lastIndexOf(this.#folder);
    if (folderAt === -1) return undefined;
    const [, file, line, column] = POSITION.exec(stackLine.slice(folderAt + this.#folder.length)) ?? [];
    if (file === undefined || !existsSync(new URL(file, this.#folder))) return undefined;
    return { file, line: Number(line), column: Number(column) };
  }

  #mapOf(file: string): SourceMap | undefined {
    if (!this.#maps.has(file)) this.#maps.set(file, this.#read(file));
    return this.#maps.get(file);
  }

  /** @returns undefined if the map is missing or broken */
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
      .map((line) => maps.place(line) ?? maps.minifiedPlace(line))
      .filter((place) => place !== undefined)
      // Calls within a package look the same.
      .filter((place, index, places) => place !== places[index - 1])
      .slice(0, MAX_FRAMES)
  );
}
