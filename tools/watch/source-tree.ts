import { createHash } from 'node:crypto';
import { type FSWatcher, readdirSync, readFileSync, statSync, watch } from 'node:fs';

/** What a running stack was made of, from the project's root. */
const FOLDERS = ['bin', 'lambda', 'lib'];
const FILES = ['cdk.json', 'package.json'];

/** Milliseconds without a further event after which a save counts as done: editors save in several steps. */
const SETTLED = 50;

/**
 * Milliseconds for which a file may be away, or empty, before it counts as deleted or emptied. Editors rename the old
 * file before they write the new one, or cut it to nothing.
 */
const AWAY = 400;

/** Files beside the sources that editors keep for themselves. */
const IS_EDITORS_OWN = /^\.|~$|\.(?:swp|swx|tmp|bak|orig)$|^\d+$/;

interface Seen {
  /** Changes with every write, also one of the same text. */
  readonly signature: string;
  readonly bytes: number;
  /** Of the content. */
  readonly hash: string;
}

/**
 * The sources of a running stack, and what of them is saved.
 *
 * Events of the file system only say when to look: what has changed is told by the files' content. Folders are watched
 * one by one: Node.js' own recursive watching watches every file on Linux, and reports others than those that changed
 * (https://github.com/nodejs/node/issues/58868).
 */
export class SourceTree {
  readonly #files = new Map<string, Seen>();
  readonly #watchers = new Map<string, FSWatcher>();
  /** Since when a file is away or empty, in epoch milliseconds. */
  readonly #away = new Map<string, number>();
  #onSaved: (files: ReadonlySet<string>) => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  /** From now on changes count, as soon as somebody listens. */
  constructor() {
    this.#compare();
  }

  /**
   * @param onSaved told of files with another content than before, from the project's root
   * @throws Error where the system watches no more folders
   */
  watch(onSaved: (files: ReadonlySet<string>) => void): void {
    this.#onSaved = onSaved;
    this.#watchFolder('.', (file) => file === null || FILES.includes(file));
    this.#look();
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #lookSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), SETTLED);
  }

  #look(): void {
    const { folders, saved } = this.#compare();
    for (const folder of folders) this.#watchFolder(folder);
    for (const [folder, watcher] of this.#watchers) {
      if (folder === '.' || folders.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    if (this.#away.size > 0) this.#lookSoon();
    if (saved.size > 0) this.#onSaved(saved);
  }

  #watchFolder(folder: string, concerns: (file: string | null) => boolean = () => true): void {
    if (this.#watchers.has(folder)) return;
    const watcher = watch(folder, (_, file) => {
      if (concerns(file)) this.#lookSoon();
    });
    // A folder that goes: what was in it is seen to be gone.
    watcher.on('error', () => this.#lookSoon());
    this.#watchers.set(folder, watcher);
  }

  /** Takes the files as they are now. @returns the folders, and the files with another content than before */
  #compare(): { folders: Set<string>; saved: Set<string> } {
    const { folders, files } = sources();
    const saved = new Set<string>();
    for (const [file, signature] of files) {
      const before = this.#files.get(file);
      if (before?.signature === signature) {
        this.#away.delete(file);
        continue;
      }
      const content = contentOf(file);
      if (content === undefined || (content.length === 0 && before?.bytes && this.#isBriefly(file))) continue;
      this.#away.delete(file);
      const hash = createHash('sha256').update(content).digest('base64');
      this.#files.set(file, { signature, bytes: content.length, hash });
      if (hash !== before?.hash) saved.add(file);
    }
    for (const file of this.#files.keys()) {
      if (files.has(file) || this.#isBriefly(file)) continue;
      this.#away.delete(file);
      this.#files.delete(file);
      saved.add(file);
    }
    return { folders, saved };
  }

  /** Whether a file that is away or empty may still come back. */
  #isBriefly(file: string): boolean {
    const since = this.#away.get(file) ?? Date.now();
    this.#away.set(file, since);
    return Date.now() - since < AWAY;
  }
}

/** The files, each with its signature, and the folders that they are in. */
function sources(): { folders: Set<string>; files: Map<string, string> } {
  const folders = new Set<string>();
  const files = new Map<string, string>();
  const add = (file: string) => {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats !== undefined) files.set(file, `${stats.mtimeMs} ${stats.size} ${stats.ino}`);
  };
  const visit = (folder: string) => {
    for (const entry of entriesOf(folder) ?? []) {
      if (IS_EDITORS_OWN.test(entry.name)) continue;
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) visit(path);
      else add(path);
    }
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) folders.add(folder);
  };
  for (const folder of FOLDERS) visit(folder);
  for (const file of FILES) add(file);
  return { folders, files };
}

/** @returns undefined where it has gone meanwhile */
const entriesOf = (folder: string) => unlessGone(() => readdirSync(folder, { withFileTypes: true }));
const contentOf = (file: string) => unlessGone(() => readFileSync(file));

function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
