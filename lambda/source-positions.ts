import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

/** Maximum number of frames in a log line: the innermost ones. */
export const MAX_FRAMES = 10;

/** The text after the folder in a line of a stack, such as `index.mjs:12:3456)`. */
const POSITION = /^([\w-]+\.mjs):(\d{1,7}):(\d{1,7})\)?$/;

/** Source maps by their URLs. Each is read when it is first needed; undefined if it is missing or damaged. */
const maps = new Map<string, SourceMap | undefined>();

/**
 * The source positions of an error, innermost call first: `lambda/effects/cast.ts:84`, or the folder of a package,
 * `node_modules/@smithy/core`.
 * @param folder `file:` URL of the bundle in which it happened. It must end in a slash, and have no symbolic links,
 * because frames have none. @default this bundle's
 */
export function sourcePositions(
  { stack = '', message }: Error,
  folder = new URL('.', import.meta.url).href,
): string[] {
  // The stack begins with name and message, and a message may have lines that look like frames. A message that was
  // changed later is not in the stack.
  const messageAt = stack.indexOf(message);
  const afterMessage = messageAt === -1 ? stack : stack.slice(messageAt + message.length);
  return (
    afterMessage
      .split('\n')
      .slice(1)
      .map((line) => sourcePosition(line, folder))
      .filter((position) => position !== undefined)
      // Calls within a package look the same.
      .filter((position, index, positions) => position !== positions[index - 1])
      .slice(0, MAX_FRAMES)
  );
}

/**
 * All of this text comes from the map, and none from the line, which could be part of a message.
 * @returns undefined if the line is no frame of the bundle, or no map has its position
 */
function sourcePosition(line: string, folder: string): string | undefined {
  const folderAt = line.lastIndexOf(folder);
  if (folderAt === -1) return undefined;
  const [, file, row, column] = POSITION.exec(line.slice(folderAt + folder.length)) ?? [];
  const origin = file && mapOf(`${folder}${file}.map`)?.findOrigin(Number(row), Number(column));
  if (!origin || !('fileName' in origin)) return undefined;
  const { fileName, lineNumber } = origin;
  return fileName.startsWith('node_modules/') ? fileName : `${fileName}:${lineNumber}`;
}

function mapOf(url: string): SourceMap | undefined {
  if (!maps.has(url)) {
    try {
      maps.set(url, new SourceMap(JSON.parse(readFileSync(new URL(url), 'utf8'))));
    } catch {
      // The error must still be logged.
      maps.set(url, undefined);
    }
  }
  return maps.get(url);
}
