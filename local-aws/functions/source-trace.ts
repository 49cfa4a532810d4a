import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

/** A position in a line of a stack trace, such as `file:///…/index.mjs:12:3456`. */
const POSITION = /(file:\/\/\S+\.m?js):(\d+):(\d+)\)?$/;

/**
 * The lines of a stack trace, with positions in the sources if the bundle has source maps. Lambda itself shows only
 * positions in the bundle.
 */
export function sourceTrace(stack: string): string[] {
  const maps = new Map<string, SourceMap | undefined>();
  return stack.split('\n').map((line) => {
    const [, file, row, column] = POSITION.exec(line) ?? [];
    if (file === undefined) return line;
    if (!maps.has(file)) maps.set(file, mapOf(file));
    const origin = maps.get(file)?.findOrigin(Number(row), Number(column));
    if (origin === undefined || !('fileName' in origin)) return line;
    const { lineNumber } = origin;
    // In the bundle of a debugged function, names are relative to the bundle.
    const fileName = origin.fileName.replace(/^(\.\.\/)+/, '');
    // In packages, source maps are reduced to file names.
    if (fileName.startsWith('node_modules/')) return `    at ${fileName}`;
    return `    at ${fileName}:${lineNumber}`;
  });
}

/**
 * The source map of a bundle.
 * @param file URL in a stack trace, which may have any text
 * @returns undefined if the source map is missing or invalid
 */
function mapOf(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(new URL(`${file}.map`), 'utf8')));
  } catch {
    return undefined;
  }
}
