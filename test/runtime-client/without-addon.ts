import { registerHooks } from 'node:module';

/** Preloaded if the addon of AWS's runtime interface client is not compiled. */
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === './rapid-client.node'
      ? { url: new URL('native-client.ts', import.meta.url).href, shortCircuit: true }
      : next(specifier, context),
});
