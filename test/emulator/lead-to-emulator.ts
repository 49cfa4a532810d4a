import { readFileSync, writeFileSync } from 'node:fs';

/** Where a REST API says it is: it has no attribute for that, and the emulator takes AWS' own domain for granted. */
const AT_AWS = /(?<=https:\/\/[a-z0-9]+\.execute-api\.)[a-z0-9-]+\.amazonaws\.com/g;

/**
 * Has the addresses of APIs in an outputs file lead to the emulator, where they lead to AWS.
 * @param endpoint of the emulator, by its name
 */
export function leadToEmulator(outputsFile: string, endpoint: string): void {
  const outputs = readFileSync(outputsFile, 'utf8');
  writeFileSync(outputsFile, outputs.replace(AT_AWS, new URL(endpoint).host));
}
