import * as z from 'zod';
import { configSchema } from '../../lib/config.ts';

type ConfigField = z.core.JSONSchema.JSONSchema;

/** Every field of a stage with its default, its meaning and its unit. */
export function configurationDocument(): string {
  const schema = z.toJSONSchema(configSchema(), { io: 'input' });
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    rows(name, field as ConfigField, schema.required?.includes(name) ?? false),
  );
  return `# Configuration

A stage is an entry of \`stages\` in \`cdk.json\`. Choose it with \`-c stage=NAME\` (default: \`dev\`). Every setting is
optional. \`npx cdk synth\` reports all unknown fields and wrong values.

\`\`\`json
"prod": {
  "account": "111122223333",
  "region": "eu-central-1",
  "alarmEmails": ["night@example.com"],
  "events": { "shop.updated": { "maximumConcurrency": 50 } }
}
\`\`\`

For one command, \`-c settings\` is merged over the stage of \`cdk.json\`. A list replaces the list, and \`null\` removes a
setting. A pipeline must pass the same settings at every deployment.

\`\`\`bash
npx cdk deploy -c stage=prod -c settings='{"logRetentionDays":90,"receiver":{"memory":1024}}'
\`\`\`

${fields.join('\n')}

Generated from \`lib/config.ts\` by \`npm run generate\`.
`;
}

/** List items of a field and its subfields. Fields that every event has are shown once. */
function rows(path: string, field: ConfigField, isRequired: boolean): string[] {
  const inner = Object.entries(field.properties ?? {}) as [string, ConfigField][];
  const events = path === 'events';
  const rest = inner
    .slice(0, events ? 1 : undefined)
    .flatMap(([name, one]) =>
      rows(events ? 'events.<event>' : `${path}.${name}`, one, field.required?.includes(name) ?? false),
    );
  const { description = '', minimum, maximum } = field;
  const range =
    minimum === undefined ? '' : ` (${minimum.toLocaleString('en')} to ${maximum?.toLocaleString('en')})`;
  const item = `- **\`${path}\`**${defaultOf(field, isRequired)}${range}. ${description}`;
  return events ? rest : [item, ...rest];
}

/** A field's default, or that the field is required, to follow its name. */
function defaultOf(field: ConfigField, isRequired: boolean): string {
  if (isRequired) return ' (required)';
  // The defaults of an object are those of its fields.
  const values = [field.default ?? []].flat().filter((value) => typeof value !== 'object');
  return values.length === 0 ? '' : `: ${values.map((one) => `\`${one}\``).join(', ')}`;
}
