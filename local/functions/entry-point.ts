import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';

let entryPoint: URL | undefined;

/**
 * Where an execution environment's worker starts: `execution-environment.ts` as JavaScript, in a `data:` URL.
 *
 * A worker that is given the TypeScript file loads Node's type stripper for itself, which costs each
 * one 11 MB and 40 ms (Node.js 24.21); here it is loaded once for all.
 */
export function executionEnvironmentEntryPoint(): URL {
  entryPoint ??= new URL(`data:text/javascript,${encodeURIComponent(environmentSource())}`);
  return entryPoint;
}

function environmentSource(): string {
  const file = new URL('./execution-environment.ts', import.meta.url);
  const source = withoutWarnings(() => stripTypeScriptTypes(readFileSync(file, 'utf8')));
  const sourceStack = new URL('../../lambda/source-stack.ts', import.meta.url);
  // On the first line, so that no line moves. Without the last one stack traces repeat the whole data: URL.
  return `const SOURCE_STACK = ${JSON.stringify(sourceStack.href)}; ${source}\n//# sourceURL=${file.href}\n`;
}

/** `stripTypeScriptTypes` warns at its first use that it may change; the Node.js version is pinned. */
function withoutWarnings<T>(run: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return run();
  } finally {
    process.emitWarning = emitWarning;
  }
}
