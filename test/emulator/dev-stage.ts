import { readFileSync } from 'node:fs';

/** Options of `cdk` by which the `dev` stage has further fields, or others. */
export function devStageWith(fields: Readonly<Record<string, unknown>>): string[] {
  const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  return ['--context', `stages=${JSON.stringify({ dev: { ...context.stages.dev, ...fields } })}`];
}
