import { readFileSync } from 'node:fs';

const { version, license } = JSON.parse(readFileSync('package.json', 'utf8'));

/** What both documents say of themselves. */
export const info = (title: string, description: string) => ({
  title,
  version: version as string,
  description,
});

export const LICENCE: string = license;
