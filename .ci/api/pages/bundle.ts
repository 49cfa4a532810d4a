import { dirname, join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { redocSource } from './redoc-source.ts';

/** The folder whose packages the pages are made of. */
const ROOT = resolve(import.meta.dirname, '..');

const ENTRIES = {
  /** The parser's model of a document, which is what the renderer reads. */
  '@asyncapi/parser': './asyncapi-model.ts',
  '@asyncapi/parser/cjs/document': '@asyncapi/parser/esm/document.js',
};

/**
 * The renderer of AsyncAPI without what reads and validates documents: that is five times as large, compiles schemas by
 * `new Function`, which no strict policy lets through, and is done by .ci/check-api before.
 */
const withoutParser: Plugin = {
  name: 'without-parser',
  setup({ onResolve, onLoad, resolve: resolvePackage }) {
    onResolve({ filter: /^@asyncapi\/parser(\/cjs\/document)?$/ }, ({ path }) =>
      resolvePackage(ENTRIES[path as keyof typeof ENTRIES], {
        resolveDir: import.meta.dirname,
        kind: 'import-statement',
      }),
    );
    onResolve(
      { filter: /^@asyncapi\/[a-z]+-schema-parser$|^@asyncapi\/specs$|^@stoplight\/|^\.\/parser$/ },
      ({ path }) => ({
        path,
        namespace: 'empty',
      }),
    );
    onLoad({ filter: /./, namespace: 'empty' }, ({ path }) => ({
      contents: path === '@asyncapi/specs' ? 'module.exports = { schemas: {} };' : 'module.exports = {};',
    }));
  },
};

export interface Bundle {
  readonly script: string;
  /** Folders of the packages that it has something of. */
  readonly packages: ReadonlySet<string>;
}

/** A script for a page. @param entry beside this file */
export async function bundle(entry: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [join(import.meta.dirname, entry)],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'iife',
    target: 'es2023',
    define: {
      'process.env.NODE_ENV': '"production"',
      // What Redoc's own tools put in.
      'module.hot': 'undefined',
      __REDOC_VERSION__: '""',
      __REDOC_REVISION__: '""',
    },
    // The page has them with the licences.
    legalComments: 'none',
    logLevel: 'error',
    plugins: [withoutParser, redocSource],
    // Redoc's decorators are those of before the standard.
    tsconfigRaw: {
      compilerOptions: { alwaysStrict: true, experimentalDecorators: true, useDefineForClassFields: false },
    },
  });
  const [output] = Object.values(metafile.outputs);
  const packages = Object.entries(output?.inputs ?? {})
    .filter(([file, { bytesInOutput }]) => bytesInOutput > 0 && file.includes('node_modules/'))
    .map(([file]) => packageOf(resolve(ROOT, file.replace(/^redoc:/, ''))));
  return { script: outputFiles[0]?.text ?? '', packages: new Set(packages) };
}

/** The folder of the package that a file is in. */
function packageOf(file: string): string {
  const [folder = dirname(file)] = file.match(/^.*node_modules\/(@[^/]+\/)?[^/]+/) ?? [];
  return folder;
}
