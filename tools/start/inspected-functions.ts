import { InvalidArgumentError } from '@commander-js/extra-typings';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { didYouMean } from '../../lib/did-you-mean.ts';
import type { Bundle } from '../../lib/release/function-bundles.ts';
import { MAX_PORT } from '../terminal/options.ts';

/** Default port of debuggers. Source: Node.js documentation, "Debugger". */
const FIRST_PORT = 9229;

export interface InspectedFunction {
  /** Name as typed: `receiver`, `shop.updated`. */
  readonly name: string;
  /** Name as in other commands: `shop-updated`. */
  readonly service: string;
  /** Port for debuggers. */
  readonly port: number;
}

const names = ['receiver', ...eventNames];

/**
 * Parses a value of the option `--inspect`, which may be repeated.
 * @throws InvalidArgumentError
 */
export function inspectedFunction(
  text: string,
  before: readonly InspectedFunction[] = [],
): readonly InspectedFunction[] {
  const [, name = '', given] = /^([^:]*)(?::(.*))?$/.exec(text) ?? [];
  if (!names.includes(name)) {
    throw new InvalidArgumentError(
      `It must be a function with an optional port, such as shop.updated:9230.${didYouMean(name, names)} One of: ${names.join(', ')}`,
    );
  }
  if (before.some((other) => other.name === name)) throw new InvalidArgumentError(`${name} is named twice.`);
  const port = given === undefined ? FIRST_PORT + before.length : Number(/^\d{1,5}$/.exec(given)?.[0]);
  if (!(port >= 1 && port <= MAX_PORT))
    throw new InvalidArgumentError(`Its port must be a whole number from 1 to ${MAX_PORT}.`);
  return [...before, { name, service: kebabCase(name), port }];
}

/**
 * Bundles a function for a debugger: not minified, with source maps.
 * @throws BuildFailure of esbuild if the sources have errors
 */
export async function writeReadableBundle(service: string, folder: string): Promise<Bundle> {
  // esbuild loads slowly, and only a debugger needs it before the stack is ready.
  const { functionEntries, writeBundles } = await import('../../lib/release/function-bundles.ts');
  const entry = functionEntries[service] ?? '';
  const [bundle] = await writeBundles([{ entry, folder }], { minify: false, sourcemap: 'linked' });
  return bundle as Bundle;
}

export function inspectText({ name, port }: InspectedFunction): string {
  const address = `127.0.0.1:${port}`;
  const attach = JSON.stringify({ type: 'node', request: 'attach', name, port, restart: true });
  return `
Debug ${name} at ${address}: in Chrome by chrome://inspect (Configure: ${address}), in VS Code by
  ${attach}
It takes one invocation at a time. At a breakpoint nothing times out for 12 h: not the function, its
queue's visibility timeout or the API.
`;
}
