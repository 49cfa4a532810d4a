import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

/** The position in a line of a stack, such as `file:///…/index.mjs:12:3456`. */
const POSITION = /(file:\/\/\S+\.m?js):(\d+):(\d+)\)?$/;

/** The lines of a stack, with source positions if a bundle has source maps. Lambda itself does not do this. */
export function sourceTrace(stack: string): string[] {
  const maps = new Map<string, SourceMap | undefined>();
  return stack.split('\n').map((line) => {
    const [, file, row, column] = POSITION.exec(line) ?? [];
    if (file === undefined) return line;
    if (!maps.has(file)) maps.set(file, mapOf(file));
    const origin = maps.get(file)?.findOrigin(Number(row), Number(column));
    if (origin === undefined || !('fileName' in origin)) return line;
    const { fileName, lineNumber } = origin;
    // Maps of packages have no lines.
    if (fileName.startsWith('node_modules/')) return `    at ${fileName}`;
    return `    at ${fileName}:${lineNumber}`;
  });
}

/** @returns undefined if the map is missing or broken */
function mapOf(file: string): SourceMap | undefined {
  const map = new URL(`${file}.map`);
  if (!existsSync(map)) return undefined;
  try {
    return new SourceMap(JSON.parse(readFileSync(map, 'utf8')));
  } catch {
    return undefined;
  }
}
