import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as formats from 'ajv-formats';
import { eventNames } from '../../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../../lambda/events/event-names.ts';
import { decodeSignature } from '../../../../lambda/receiver/signature.ts';
import { apiFiles, asyncApiText, openApiText } from '../../../../tools/partner/api/files.ts';
import { SIGNATURE_PATTERN } from '../../../../tools/partner/api/openapi.ts';
import { Description, type Part, partsOf } from './description.ts';

const openApi = new Description(openApiText());
const asyncApi = new Description(asyncApiText());

describe.each([
  ['openapi.json', openApi],
  ['asyncapi.json', asyncApi],
])('%s', (_, description) => {
  test('leads nowhere that is not there', () => {
    const references = [...partsOf(description.document)].filter((part) => typeof part.$ref === 'string');
    expect(references.length).toBeGreaterThan(10);
    for (const reference of references) {
      expect([reference.$ref, description.follow(reference)]).toEqual([reference.$ref, expect.any(Object)]);
    }
  });

  test('has no schema of which an example of its own is not valid', () => {
    let examples = 0;
    for (const schema of Object.values(description.at('components', 'schemas')) as Part[]) {
      for (const example of (schema.examples ?? []) as unknown[]) {
        expect([schema.title, description.problems(schema, example)]).toEqual([schema.title, []]);
        examples += 1;
      }
    }
    expect(examples).toBeGreaterThan(0);
  });
});

describe('openapi.json', () => {
  test('is OpenAPI 3.1 with the one operation, and no requests that we would send', () => {
    expect(openApi.document).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./) });
    expect(Object.keys(openApi.at('paths'))).toEqual(['/api/v1/webhooks/partner']);
    expect(openApi.document).not.toHaveProperty('webhooks');
  });

  test('has a body by name, alternatives of one type each, and no format beside a pattern, for generators', () => {
    const path = ['paths', '/api/v1/webhooks/partner', 'post', 'requestBody', 'content', 'application/json'];
    expect(openApi.at(...path).schema).toEqual({ $ref: '#/components/schemas/PartnerEvent' });
    for (const part of partsOf(openApi.at('components', 'schemas'))) {
      const alternatives = [part.anyOf ?? [], part.oneOf ?? []].flat() as Part[];
      expect(alternatives.filter(({ type }) => Array.isArray(type))).toEqual([]);
      if ('pattern' in part) expect(part).not.toHaveProperty('format');
    }
  });

  test('shows how to sign in the languages that most partners use, by the samples as they are', () => {
    const samples = openApi.at('paths', '/api/v1/webhooks/partner', 'post')['x-codeSamples'] as Part[];
    expect(samples.map(({ label }) => label)).toEqual(['curl', 'Node.js', 'Python', 'PHP', 'Go']);
    expect(samples[1]?.source).toBe(readFileSync('examples/signing/node/sign-and-post.mjs', 'utf8'));
  });

  test('has no request and no answer of which an example is not valid', () => {
    const media = [...partsOf(openApi.document)].filter((part) => 'examples' in part && 'schema' in part);
    let examples = 0;
    for (const { schema, examples: named } of media) {
      for (const { value } of Object.values(named as Record<string, Part>)) {
        expect(openApi.problems(schema as Part, value)).toEqual([]);
        examples += 1;
      }
    }
    expect(examples).toBeGreaterThan(2 * eventNames.length);
  });

  test('asks for the signature once: two values of it are answered 401', () => {
    const named = [...partsOf(openApi.document)].filter(({ name }) => name === 'X-Webhook-Signature');
    expect(named).toEqual([expect.objectContaining({ in: 'header', required: true })]);
  });

  test('has every kind of problem that the receiver’s code has', () => {
    const code = readFileSync('lambda/receiver/answers.ts', 'utf8');
    const types = [...code.matchAll(/type: '(urn:partner-webhooks:problem:[^']+)'/g)].map(([, type]) => type);
    const described = [...partsOf(openApi.at('components', 'schemas'))].map((part) => part.const);
    expect(types.length).toBeGreaterThan(0);
    expect(described).toEqual(expect.arrayContaining(types));
  });
});

describe('asyncapi.json', () => {
  test('is AsyncAPI 3.0 of the topics alone, with every operation on a channel', () => {
    expect(asyncApi.document).toMatchObject({ asyncapi: expect.stringMatching(/^3\.0\./) });
    const channels = Object.keys(asyncApi.at('channels'));
    expect(channels).toEqual(['ChatTopic', 'ReviewTopic']);
    for (const operation of Object.values(asyncApi.at('operations')) as Part[]) {
      expect(['send', 'receive']).toContain(operation.action);
      expect(channels).toContain((operation.channel as Part).$ref?.toString().replace('#/channels/', ''));
    }
  });

  test('has no message of which an example is not valid', () => {
    const messages = Object.values(asyncApi.at('components', 'messages')) as Part[];
    for (const { name, headers, payload, examples } of messages) {
      expect([name, examples]).toEqual([name, expect.arrayContaining([expect.anything()])]);
      for (const example of examples as Part[]) {
        const wrong = [
          ...asyncApi.problems(headers as Part, example.headers),
          ...asyncApi.problems(payload as Part, example.payload),
        ];
        expect([name, wrong]).toEqual([name, []]);
      }
    }
  });
});

describe('the schemas on their own', () => {
  const files = apiFiles().filter(({ file }) => file.startsWith('docs/api/schemas/'));

  test('are one for each event, for notifications and for the archive, each valid by itself', () => {
    const names = [...eventNames.map(kebabCase), 'notification', 'archive-record'];
    expect(files.map(({ file }) => file).sort()).toEqual(
      names.map((name) => `docs/api/schemas/${name}.json`).sort(),
    );
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
    formats.default.default(ajv);
    for (const { text = '' } of files) {
      const schema = JSON.parse(text);
      expect(schema.$id).toMatch(/^urn:partner-webhooks:schema:[a-z_.-]+$/);
      const validate = ajv.compile(schema);
      const examples = [schema, ...(schema.oneOf ?? [])].flatMap((part) => part.examples ?? []);
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) expect([schema.$id, validate(example)]).toEqual([schema.$id, true]);
    }
  });
});

test('the pattern of a signature has exactly the spellings that the receiver takes', () => {
  const pattern = new RegExp(SIGNATURE_PATTERN, 'u');
  const hex = 'aB'.repeat(32);
  const base64 = `${'A'.repeat(41)}+/`;
  const url = `${'A'.repeat(41)}-_`;
  const spellings = [hex, base64, `${base64}=`, url, `${url}=`].flatMap((one) => [one, `sha256=${one}`]);
  const wrong = [
    ...['', ' ', 'sha256=', 'sha1=', hex.slice(1), `${hex}0`, `${base64}==`, `${'A'.repeat(41)}+_`],
    ...spellings.flatMap((one) => [` ${one}`, `${one}\n`, `SHA256=${one}`, `${one},${one}`, `=${one}`]),
  ];
  for (const text of [...spellings, ...wrong]) {
    expect([text, pattern.test(text)]).toEqual([text, decodeSignature(text) !== undefined]);
  }
  expect(spellings.every((text) => pattern.test(text))).toBe(true);
});

test('the document that docs/subscribers.md shows is a published example', () => {
  const [, shown = ''] = /```json\n([^`]*)```/.exec(readFileSync('docs/subscribers.md', 'utf8')) ?? [];
  const { examples } = asyncApi.at('components', 'schemas', 'ReviewPostedNotification');
  expect(examples).toContainEqual(JSON.parse(shown));
});
