import { createHash } from 'node:crypto';
import { type FSWatcher, readdirSync, readFileSync, statSync, watch } from 'node:fs';

/** Folders with the sources of a stack, relative to the project's root. */
const FOLDERS = ['bin', 'lambda', 'lib'];
const FILES = ['cdk.json', 'package.json'];

/**
 * Milliseconds after the last file event until a save counts as finished, because editors save in several
 * steps.
 */
const SETTLED = 50;

/**
 * Milliseconds after which a missing or empty file counts as deleted or emptied. Editors rename the old file
 * before they write the new one, or truncate it.
 */
const MISSING_GRACE = 400;

/** Milliseconds until the next attempt if something could not be read or watched. */
const RETRY_INTERVAL = 1_000;

/** Errors for a file that disappears, or becomes a folder, while it is read. */
const MISSING_CODES = ['ENOENT', 'ENOTDIR', 'EISDIR'];

/** Temporary and backup files of editors among the sources. */
const IS_EDITORS_OWN = /^\.|~$|\.(?:swp|swx|tmp|bak|orig)$|^\d+$/;

interface SeenFile {
  /** A value that changes with every write, even if the text stays the same. */
  readonly signature: string;
  readonly bytes: number;
  /** Depends only on the content. */
  readonly hash: string;
}

/**
 * The sources of a running stack. Reports files whose content was changed; events of the file system only say
 * when to compare. Folders are watched one by one: on Linux, Node's recursive watching watches every file,
 * and reports files that have not changed (https://github.com/nodejs/node/issues/58868).
 */
export class SourceTree {
  readonly #files = new Map<string, SeenFile>();
  readonly #watchers = new Map<string, FSWatcher>();
  /** Since when a file has been missing or empty, by its path. Epoch milliseconds. */
  readonly #missingSince = new Map<string, number>();
  #isWatching = false;
  #onSaved: (files: ReadonlySet<string>) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  readonly #onProblem: (message: string) => void;
  /** The last reported problem. Undefined without one. */
  #problem: string | undefined;

  /**
   * Changes after the constructor are reported as soon as {@link watch} is called.
   * @param onProblem called once when something cannot be read or watched, which is then retried every second
   */
  constructor(onProblem: (message: string) => void) {
    this.#onProblem = onProblem;
    this.#check();
  }

  /** @param onSaved called with the files whose content has changed, relative to the project's root */
  watch(onSaved: (files: ReadonlySet<string>) => void): void {
    this.#onSaved = onSaved;
    this.#isWatching = true;
    this.#check();
  }

  close(): void {
    this.#isWatching = false;
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #checkSoon(wait = SETTLED): void {
    if (!this.#isWatching) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(), wait);
  }

  /** Looks for changes. Errors of the file system are caught, because in a timer they would end the process. */
  #check(): void {
    const problems: string[] = [];
    const { folders, saved } = this.#compare(problems);
    if (this.#isWatching) this.#watchFolders(folders, problems);
    const [problem] = problems;
    if (problem !== undefined && problem !== this.#problem) {
      this.#onProblem(`${problem}. Files saved there may be noticed late, or not at all`);
    }
    this.#problem = problem;
    if (this.#missingSince.size > 0) this.#checkSoon();
    else if (problem !== undefined) this.#checkSoon(RETRY_INTERVAL);
    if (saved.size > 0) this.#onSaved(saved);
  }

  #watchFolders(folders: ReadonlySet<string>, problems: string[]): void {
    trying(problems, () => {
      this.#watchFolder('.', (file) => file === null || FILES.includes(file));
    });
    for (const folder of folders) trying(problems, () => this.#watchFolder(folder));
    for (const [folder, watcher] of this.#watchers) {
      if (folder === '.' || folders.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
  }

  #watchFolder(folder: string, concerns: (file: string | null) => boolean = () => true): void {
    if (this.#watchers.has(folder)) return;
    const watcher = watch(folder, (_, file) => {
      if (concerns(file)) this.#checkSoon();
    });
    // The folder itself was deleted.
    watcher.on('error', () => this.#checkSoon());
    this.#watchers.set(folder, watcher);
  }

  /**
   * Reads the current files and compares them with the ones before.
   * @returns the folders, and the files whose content has changed
   */
  #compare(problems: string[]): { folders: Set<string>; saved: Set<string> } {
    const { folders, files, unknown } = sources(problems);
    const saved = new Set<string>();
    for (const [file, signature] of files) {
      const before = this.#files.get(file);
      if (before?.signature === signature) {
        this.#missingSince.delete(file);
        continue;
      }
      const content = trying(problems, () => readFileSync(file));
      if (content === undefined || (content.length === 0 && before?.bytes && this.#isBriefly(file))) continue;
      this.#missingSince.delete(file);
      const hash = createHash('sha256').update(content).digest('base64');
      this.#files.set(file, { signature, bytes: content.length, hash });
      if (hash !== before?.hash) saved.add(file);
    }
    for (const file of this.#files.keys()) {
      if (files.has(file) || unknown.some((path) => file === path || file.startsWith(`${path}/`))) continue;
      if (this.#isBriefly(file)) continue;
      this.#missingSince.delete(file);
      this.#files.delete(file);
      saved.add(file);
    }
    return { folders, saved };
  }

  /** Whether a missing or empty file may still be in the middle of a save. */
  #isBriefly(file: string): boolean {
    const since = this.#missingSince.get(file) ?? Date.now();
    this.#missingSince.set(file, since);
    return Date.now() - since < MISSING_GRACE;
  }
}

/** Reads the tree: files with their signatures, folders, and paths that could not be read. */
function sources(problems: string[]) {
  const folders = new Set<string>();
  const files = new Map<string, string>();
  const unknown: string[] = [];
  const attempt = <T>(path: string, read: () => T): T | undefined => {
    const count = problems.length;
    const found = trying(problems, read);
    if (problems.length > count) unknown.push(path);
    return found;
  };
  const add = (file: string) => {
    const stats = attempt(file, () => statSync(file, { throwIfNoEntry: false }));
    // Symbolic links to folders are not followed.
    if (stats?.isFile()) files.set(file, `${stats.mtimeMs} ${stats.size} ${stats.ino}`);
  };
  const visit = (folder: string) => {
    const entries = attempt(folder, () => readdirSync(folder, { withFileTypes: true }));
    if (entries === undefined) return;
    folders.add(folder);
    for (const entry of entries) {
      if (IS_EDITORS_OWN.test(entry.name)) continue;
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) visit(path);
      else add(path);
    }
  };
  for (const folder of FOLDERS) visit(folder);
  for (const file of FILES) add(file);
  return { folders, files, unknown };
}

/** @returns undefined if the file is gone, or if access fails, which is added to the problems */
function trying<T>(problems: string[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (!MISSING_CODES.includes(code)) problems.push(message);
    return undefined;
  }
}
