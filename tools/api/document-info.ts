import { readFileSync } from 'node:fs';

const { version, license } = JSON.parse(readFileSync('package.json', 'utf8'));

export const info = (title: string, description: string) => ({
  title,
  version: version as string,
  description,
});

/** The project's licence, as an SPDX identifier. */
export const LICENCE: string = license;

/** Host of the webhook in examples: a reserved name that nobody can own (RFC 2606). */
export const EXAMPLE_HOST = 'webhooks.example.com';

/**
 * Contact in the API descriptions: placeholders to replace when you deploy the stack. Linters require all three fields.
 */
export const CONTACT = {
  name: 'The people who gave you the address and the secret',
  url: `https://${EXAMPLE_HOST}/`,
  email: 'webhooks@example.com',
};

export const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });
