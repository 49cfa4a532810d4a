import { existsSync, realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { SourceMaps } from '../../lambda/source-stack.ts';

/** The lines of a stack, with source positions if the bundle has source maps. Lambda itself does not do this. */
export function sourceTrace(stack: string, codeDirectory: string): string[] {
  const folder = existsSync(codeDirectory) ? realpathSync(codeDirectory) : codeDirectory;
  const maps = new SourceMaps(`${pathToFileURL(folder).href}/`);
  return stack.split('\n').map((line) => {
    const position = maps.place(line);
    return position === undefined ? line : `    at ${position}`;
  });
}
