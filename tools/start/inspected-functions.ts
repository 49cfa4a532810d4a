import { join } from 'node:path';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { InspectorPort } from 'local-aws/functions';
import * as z from 'zod/mini';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { didYouMean } from '../../lib/did-you-mean.ts';
import type { Bundle } from '../../lib/release/function-bundles.ts';
import { readJson } from '../terminal/files.ts';
import { inspectedCode } from './adjust-assembly.ts';

/** Default port of debuggers. Source: Node.js documentation, "Debugger". */
const FIRST_PORT = 9229;

const MAX_PORT = 65_535;

export interface InspectedFunction {
  /** Name as typed: `receiver`, `shop.updated`. */
  readonly name: string;
  /** Name as in other commands: `shop-updated`. */
  readonly service: string;
  /** Port for debuggers. Undefined for the next free port from 9229 on. */
  readonly port: number | undefined;
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
  const [, name = '', digits] = /^([^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const port = digits === undefined ? undefined : Number(digits);
  if (!names.includes(name)) {
    throw new InvalidArgumentError(
      `It must be a function with an optional port, such as shop.updated:9230.${didYouMean(name, names)} One of: ${names.join(', ')}`,
    );
  }
  if ((port ?? 0) > MAX_PORT) throw new InvalidArgumentError(`The largest port is ${MAX_PORT}.`);
  if (before.some((other) => other.name === name)) throw new InvalidArgumentError(`${name} is named twice.`);
  return [...before, { name, service: kebabCase(name), port }];
}

/**
 * Gives each function without a port the next free one from 9229 on.
 * @param others ports that the stack itself uses
 */
export function withPorts(
  functions: readonly InspectedFunction[],
  others: readonly number[],
): (InspectedFunction & { port: number })[] {
  const taken = new Set([...functions.map(({ port }) => port), ...others]);
  let next = FIRST_PORT;
  return functions.map((one) => {
    if (one.port !== undefined) return { ...one, port: one.port };
    while (taken.has(next)) next += 1;
    taken.add(next);
    return { ...one, port: next };
  });
}

/** Opens the ports for debuggers, by the functions' names in other commands. */
export async function openInspectors(
  functions: readonly (InspectedFunction & { port: number })[],
): Promise<Map<string, InspectorPort>> {
  const opened = new Map<string, InspectorPort>();
  for (const { service, port } of functions) opened.set(service, await InspectorPort.open(port));
  return opened;
}

const bundleListSchema = z.record(z.string(), z.object({ entry: z.string() }));

/** Replaces bundles of a synthesised assembly by readable ones. */
export async function bundleReadably(
  assembly: string,
  functions: readonly Pick<InspectedFunction, 'service'>[],
): Promise<void> {
  if (functions.length === 0) return;
  const { BUNDLE_LIST } = await import('../../lib/release/function-bundles.ts');
  const bundles = bundleListSchema.parse(readJson(join(assembly, BUNDLE_LIST)));
  for (const { service } of functions) {
    const { entry } = bundles[service] ?? {};
    if (entry !== undefined) await writeReadableBundle(entry, inspectedCode(assembly, service));
  }
}

/**
 * Bundles a function for a debugger: not minified, with source maps.
 * @throws BuildFailure of esbuild if the sources have errors
 */
export async function writeReadableBundle(entry: string, folder: string): Promise<Bundle> {
  const { writeBundle } = await import('../../lib/release/function-bundles.ts');
  return await writeBundle({ entry, folder }, { minify: false, sourcemap: 'linked' });
}

export function inspectText({ name }: InspectedFunction, { address }: InspectorPort): string {
  const port = Number(address.split(':').at(-1));
  const attach = JSON.stringify({ type: 'node', request: 'attach', name, port, restart: true });
  return `
Debug ${name} at ${address}: in Chrome by chrome://inspect (Configure: ${address}), in VS Code by
  ${attach}
It takes one invocation at a time. At a breakpoint nothing times out for 12 h: not the function, its
queue's visibility timeout or the API.
`;
}
