import { type Permission, SynthesisedTemplate } from './synthesised-template.ts';

/**
 * Permissions of each role with the settings of `prod`, further ones with every other setting, and further ones with a
 * key for everything.
 */
export function permissionsDocument(prod: string, everySetting: string, encrypted: string): string {
  const rows = rowsOf(prod);
  const addedIn = (assembly: string) => table(rowsOf(assembly).filter((row) => !rows.includes(row)));
  return `# Permissions

What each role of the stack may do, made from the synthesised template: a grant that grows is a line here, and
a test fails until the line is checked in (\`npm run generate\`). A resource is named by its
construct's path. Besides, every queue, topic and bucket refuses what does not come over TLS.

## The prod stage

${table(rows)}

## What optional settings add

An existing secret and its key, an existing key of the topics, a CloudFront distribution, chat channels.

${addedIn(everySetting)}

## What \`encryption\` adds

With a key of one's own for everything, this replaces what is above about the topics' key. KMS asks for it the role that a
service acts for. Why consumers have it for any service: [security](security.md#a-key-of-ones-own).

${addedIn(encrypted)}
`;
}

function rowsOf(assembly: string): string[] {
  const template = new SynthesisedTemplate(assembly);
  return template
    .ofType('AWS::IAM::Role')
    .flatMap((role) => template.permissionsOf(role).map((permission) => row(role.path, permission)));
}

const row = (role: string, { action, resource, condition }: Permission) =>
  `| ${role.replace(/\/Role$/, '')} | ${action} | ${resource} | ${condition} |`;

const table = (rows: readonly string[]) =>
  ['| Role of | Action | Resource | Condition |', '|---|---|---|---|', ...rows].join('\n');
