import { globSync, readFileSync } from 'node:fs';
import { posix, resolve } from 'node:path';
import type { Plugin } from 'esbuild';

const REDOC = resolve(import.meta.dirname, '../node_modules/redoc');

/** What its files are called by in a bundle. */
const SOURCE = 'node_modules/redoc/src/';

/** What one valid description without a search has no use for, and a logo that comes from its maker's server. */
const INSTEAD: Readonly<Record<string, string>> = {
  // It reads files, also those of OpenAPI 2.0.
  'utils/loadAndBundleSpec.ts': 'export const loadAndBundleSpec = async document => document;',
  // It starts a worker.
  'services/SearchStore.ts': 'export class SearchStore {}',
  'components/SideMenu/Logo.tsx': 'export default () => null;',
};

/** Without a use here: styles of scroll bars where the browser's own are used, and what is for Node.js. */
const UNUSED = /^perfect-scrollbar\/css\/|^url$/;

/** Imports, as a namespace, of what is called or assigned to, which the standard has no such import for. */
const ONE_EXPORT = /import \* as (\w+) from(?= '(classnames|json-pointer|mark\.js)';)/g;

/**
 * Redoc from its source, as `redoc/src/…`. The script that its makers publish has in it what they had installed, and
 * names neither all of it nor the versions: no notices could be kept of that.
 */
export const redocSource: Plugin = {
  name: 'redoc-source',
  setup({ onResolve, onLoad, resolve: resolvePackage }) {
    const sources = publishedSources();
    const file = (name: string) => {
      const paths = ['.ts', '.tsx', '.d.ts', '/index.d.ts'].map((end) => posix.join('.', `${name}${end}`));
      const path = paths.find((path) => sources.has(path));
      if (path === undefined) throw new Error(`Redoc does not publish the source of ${name}`);
      // As if it were a file: what is bundled is known by its path.
      return { path: `${SOURCE}${path}`, namespace: 'redoc' };
    };
    onResolve({ filter: /^redoc\/src\// }, ({ path }) => file(path.slice('redoc/src/'.length)));
    onResolve({ filter: /^\./, namespace: 'redoc' }, ({ path, importer }) =>
      file(posix.join(posix.dirname(nameOf(importer)), path)),
    );
    onResolve({ filter: /^[^.]/, namespace: 'redoc' }, ({ path, kind }) =>
      UNUSED.test(path)
        ? { path, namespace: 'unused' }
        : resolvePackage(path === 'path' ? 'path-browserify' : path, { resolveDir: REDOC, kind }),
    );
    onLoad({ filter: /./, namespace: 'redoc' }, ({ path }) => ({
      contents: sources.get(nameOf(path)) ?? '',
      loader: path.endsWith('.tsx') ? 'tsx' : 'ts',
    }));
    onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: '' }));
  },
};

const nameOf = (path: string): string => path.slice(SOURCE.length);

/** Texts by names such as `components/Redoc/Redoc.tsx`. */
function publishedSources(): ReadonlyMap<string, string> {
  const map: { readonly sources: readonly string[]; readonly sourcesContent: readonly string[] } = JSON.parse(
    readFileSync(`${REDOC}/bundles/redoc.standalone.js.map`, 'utf8'),
  );
  const sources = new Map<string, string>();
  // What only exports other files is in no map; its declarations say the same.
  for (const path of globSync('**/*.d.ts', { cwd: `${REDOC}/typings` })) {
    sources.set(path, readFileSync(`${REDOC}/typings/${path}`, 'utf8'));
  }
  for (const [index, path] of map.sources.entries()) {
    const text = map.sourcesContent[index]?.replace(ONE_EXPORT, 'import $1 from');
    sources.set(path.replace('webpack://Redoc/./src/', ''), text ?? '');
  }
  for (const [path, text] of Object.entries(INSTEAD)) {
    if (!sources.has(path)) throw new Error(`Redoc no longer has ${path}: see what stands for it now`);
    sources.set(path, text);
  }
  return sources;
}
