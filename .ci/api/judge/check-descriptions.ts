import { readFileSync } from 'node:fs';
import { type Judge, judgesOfAsyncApi, judgesOfOpenApi } from './judges.ts';
import { type Damage, damaged, inAsyncApi, inOpenApi } from './planted.ts';

/**
 * Every judge's findings in the descriptions, a line for each. First each has to find what was made wrong on purpose: a
 * judge that says nothing has perhaps not looked.
 */
export async function checkDescriptions(): Promise<string[]> {
  return [
    ...(await check('docs/api/openapi.json', judgesOfOpenApi, inOpenApi)),
    ...(await check('docs/api/asyncapi.json', judgesOfAsyncApi, inAsyncApi)),
  ];
}

async function check(
  file: string,
  judges: Readonly<Record<string, Judge>>,
  damages: readonly Damage[],
): Promise<string[]> {
  const document = readFileSync(file, 'utf8');
  const problems: string[] = [];
  for (const [name, judge] of Object.entries(judges)) {
    const found = await judge(damaged(document, damages));
    for (const { what, saying } of damages) {
      if (!found.some(({ text }) => saying.test(text)))
        problems.push(`${name} does not find ${what} in ${file}`);
    }
    problems.push(...(await judge(document)).map(({ rule, text }) => `${file}: ${name}: ${rule}: ${text}`));
  }
  return problems;
}
