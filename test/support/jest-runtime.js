import { createRequire } from 'node:module';
import { types } from 'node:util';
import { SyntheticModule } from 'node:vm';
import Runtime from 'jest-runtime';

const require = createRequire(import.meta.url);

/** Where Jest's own state of the test file that runs is found. A further file would add to it. */
const HANDLERS = Symbol.for('EVENT_HANDLERS');
const STATE = 'JEST_STATE_SYMBOL';

/** What looks at the working directory when it is loaded, which some tests change. */
const LOADED_ANEW = '/node_modules/esbuild/';

/**
 * Jest's loader of modules, but for two things, together worth a third of a second of processor time for each test file:
 *
 * - Packages are loaded by Node.js, once for all test files of a process, and so is Jest itself. Our own modules are loaded
 *   anew for each file, as Jest does it: some read the environment when they are loaded.
 * - All of it is in the realm of the process, so that an `Error` of a package is an `Error` of ours, as it is without
 *   Jest. `jest.mock` is not to be had: nothing here is mocked.
 *
 * It leans on what Jest does not document; its version is pinned.
 */
class SharedPackagesRuntime extends Runtime {
  constructor(...settings) {
    super(...settings);
    // What `node:vm` takes for the realm of the process.
    this.esmLoader.getContext = () => undefined;
    this.esmLoader.buildCjsAsEsmSyntheticModule = (_, path) => packageModule(path);
    this.coreModule.require = require;
  }

  /** Would give the process' own `getBuiltinModule` away. */
  installGetBuiltinModule() {}

  unstable_shouldLoadAsEsm(path) {
    return !path.includes('/node_modules/') && super.unstable_shouldLoadAsEsm(path);
  }

  /** Of Jest's framework, which has a state of its own for each test file. */
  requireInternalModule(path) {
    delete require.cache[path];
    return require(path);
  }

  requireModule(from, name) {
    return createRequire(from)(name ?? from);
  }

  requireModuleOrMock(from, name) {
    return this.requireModule(from, name);
  }

  teardown() {
    super.teardown();
    for (const name of Object.getOwnPropertySymbols(globalThis)) {
      if (name === HANDLERS || name.description === STATE) delete globalThis[name];
    }
    delete globalThis.__coverage__;
  }
}

/** A package's file, be it an ES module or not, as Node.js would import it. */
function packageModule(path) {
  if (path.includes(LOADED_ANEW)) delete require.cache[path];
  const loaded = require(path);
  const exported = types.isModuleNamespaceObject(loaded) ? loaded : { ...loaded, default: loaded };
  return new SyntheticModule(
    Object.keys(exported),
    function () {
      for (const [name, value] of Object.entries(exported)) this.setExport(name, value);
    },
    { identifier: path },
  );
}

export { SharedPackagesRuntime as 'module.exports' };
