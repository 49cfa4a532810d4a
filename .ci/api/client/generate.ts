import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import openapiTypescript, { astToString } from 'openapi-typescript';

// TypeScript's types of the description, as a partner makes them.
const types = await openapiTypescript(pathToFileURL('docs/api/openapi.json'));
writeFileSync(new URL('generated.ts', import.meta.url), astToString(types));
