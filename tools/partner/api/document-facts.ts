import { readFileSync } from 'node:fs';

const { version, license } = JSON.parse(readFileSync('package.json', 'utf8'));

/** What both documents say of themselves. */
export const info = (title: string, description: string) => ({
  title,
  version: version as string,
  description,
});

/** By its SPDX identifier. */
export const LICENCE: string = license;

/** A host that nobody has (RFC 2606). */
export const EXAMPLE_HOST = 'webhooks.example.com';

/** Replace it by your own when you deploy the stack. Linters ask for all three. */
export const CONTACT = {
  name: 'The people who gave you the address and the secret',
  url: `https://${EXAMPLE_HOST}/`,
  email: 'webhooks@example.com',
};

/** A schema of the same document. */
export const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });
