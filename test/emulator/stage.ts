import { readFileSync } from 'node:fs';

type Fields = Readonly<Record<string, unknown>>;

/** A stage of `cdk.json`, or one of the test's own. */
export interface Stage {
  readonly name: string;
  /** The stage of `cdk.json` that it is made from. @default that of its name */
  readonly like?: string;
  /** What it has otherwise than that one. */
  readonly fields?: Fields;
}

/** All that a stage is told. */
export function fieldsOf({ name, like = name, fields = {} }: Stage): Fields {
  const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  return { ...context.stages[like], ...fields };
}

/** Options of `cdk` by which it works with a stage. */
export function optionsOf(stage: Stage): string[] {
  const { name, like, fields } = stage;
  if (like === undefined && fields === undefined) return ['--context', `stage=${name}`];
  return ['--context', `stage=${name}`, '--context', `stages=${JSON.stringify({ [name]: fieldsOf(stage) })}`];
}
