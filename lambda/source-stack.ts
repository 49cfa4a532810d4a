import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

/** Frames of an error that a log line shows at most: the innermost. */
export const MAX_FRAMES = 10;

/** What follows the folder in a line of a stack, such as `index.mjs:12:3456)`. */
const POSITION = /^([\w-]+\.mjs):(\d{1,7}):(\d{1,7})\)?$/;

/** The source maps beside the files of a bundle. Each is read when a frame of its file is looked up first. */
export class SourceMaps {
  readonly #folder: string;
  readonly #maps = new Map<string, SourceMap | undefined>();

  /** @param folder `file:` URL that ends in a slash. Frames name it without symbolic links, and so must this. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * The place in the source of one line of a stack: `lambda/effects/cast.ts:84 in Cast.#put`, or the folder of
   * a package, `node_modules/@smithy/core`. All of the text is the map's, and none of it the line's: that
   * could be part of a message.
   * @returns undefined if the line is no frame of the bundle, or no map knows its position
   */
  place(line: string): string | undefined {
    const position = this.#position(line);
    const origin = position && this.#mapOf(position.file)?.findOrigin(position.line, position.column);
    if (origin === undefined || !('fileName' in origin)) return undefined;
    const { fileName, lineNumber, name } = origin;
    if (fileName.startsWith('node_modules/')) return fileName;
    return name === undefined ? `${fileName}:${lineNumber}` : `${fileName}:${lineNumber} in ${name}`;
  }

  /** The place in the bundle itself, which says that it is one, of a line that {@link place} knows nothing of. */
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
 * Where in the source an error comes from, innermost call first. Imported on demand, as few invocations log
 * an error.
 * @param maps of the bundle that it happened in. @default this one's
 */
export function sourceStack({ stack = '', message }: Error, maps = ownMaps): string[] {
  // The stack begins with name and message, and a message may have lines that look like frames. One that was
  // changed later is not there.
  const messageAt = stack.indexOf(message);
  const afterMessage = messageAt === -1 ? stack : stack.slice(messageAt + message.length);
  return (
    afterMessage
      .split('\n')
      .slice(1)
      .map((line) => maps.place(line) ?? maps.minifiedPlace(line))
      .filter((place) => place !== undefined)
      // Calls within a package look alike.
      .filter((place, index, places) => place !== places[index - 1])
      .slice(0, MAX_FRAMES)
  );
}
