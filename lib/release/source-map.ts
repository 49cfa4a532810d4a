import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';
import { type FunctionNames, functionNames } from './function-names.ts';

/** The package that a file is of, such as `@smithy/core`: the innermost, where one has its own `node_modules`. */
const PACKAGE = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/;

/** What is read of a source map. Source: ECMA-426, "Source map format". */
interface SourceMapJson {
  readonly sources: readonly string[];
  readonly mappings: string;
}

/** What a log line says of the frames in one file that was bundled. */
interface BundledFile {
  /** The file from the project's root, or the folder of a package. */
  readonly name: string;
  /** Absent of a dependency, of which no more is said than that. */
  readonly functionAt?: FunctionNames;
}

/**
 * Reduces the source maps of bundles to what a log line says of a frame: for our own code the source's
 * path from the project's root, the line and the function, as the `name`, which in an ordinary map is the
 * identifier; for a dependency the folder of its package. A hundredth of the size is left, and no path of the
 * machine that bundled.
 */
export class SourceMapReducer {
  /** Folder of the project's own sources, such as `/project/lambda`. */
  readonly #ownFolder: string;
  readonly #files = new Map<string, BundledFile>();

  constructor(ownFolder: string) {
    this.#ownFolder = ownFolder;
  }

  /** Reads a source anew when it is met again. To be called when it has changed. */
  forget(path: string): void {
    this.#files.delete(resolve(dirname(this.#ownFolder), path));
  }

  /**
   * @param map JSON text of a source map
   * @param folder of the map's file, from which its sources are named
   */
  reduce(map: string, folder: string): string {
    const { sources, mappings }: SourceMapJson = JSON.parse(map);
    const files = sources.map((source) => this.#bundledFile(resolve(folder, source)));
    const used = new Indexed();
    const names = new Indexed();
    const lines = decode(mappings).map((segments) => {
      const kept: SourceMapSegment[] = [];
      let lastFile: number | undefined;
      for (const [column, fileIndex = -1, sourceLine = 0, sourceColumn = 0] of segments) {
        const file = files[fileIndex];
        // Nearly all segments are of a dependency that the one before is of, too.
        if (file === undefined || (fileIndex === lastFile && file.functionAt === undefined)) continue;
        lastFile = fileIndex;
        const place = [column, used.indexOf(file.name), file.functionAt ? sourceLine : 0, 0] as const;
        const functionName = file.functionAt?.(sourceLine, sourceColumn);
        const segment: SourceMapSegment =
          functionName === undefined ? [...place] : [...place, names.indexOf(functionName)];
        if (!saysTheSame(segment, kept.at(-1))) kept.push(segment);
      }
      return kept;
    });
    return JSON.stringify({ version: 3, sources: used.texts, names: names.texts, mappings: encode(lines) });
  }

  #bundledFile(path: string): BundledFile {
    let file = this.#files.get(path);
    if (file === undefined) {
      file = this.#read(path);
      this.#files.set(path, file);
    }
    return file;
  }

  #read(path: string): BundledFile {
    const packageName = PACKAGE.exec(path)?.[1];
    if (packageName !== undefined) return { name: `node_modules/${packageName}` };
    const name = relative(dirname(this.#ownFolder), path);
    return { name, functionAt: functionNames(readFileSync(path, 'utf8')) };
  }
}

const saysTheSame = (segment: SourceMapSegment, last: SourceMapSegment | undefined) =>
  segment[1] === last?.[1] && segment[2] === last?.[2] && segment[4] === last?.[4];

/** Texts in the order in which they were first asked for. */
class Indexed {
  readonly #indexes = new Map<string, number>();

  get texts(): string[] {
    return [...this.#indexes.keys()];
  }

  indexOf(text: string): number {
    const index = this.#indexes.get(text) ?? this.#indexes.size;
    this.#indexes.set(text, index);
    return index;
  }
}
