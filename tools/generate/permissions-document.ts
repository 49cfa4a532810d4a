import { SynthesisedTemplate } from 'local-aws/synthesised-template';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { pascalCase } from '../../lambda/events/event-names.ts';
import { DOCTOR_ACTIONS } from '../stage/doctor/doctor.ts';

/** A permission of a role. If permissions are grouped, their roles, actions or resources are joined by commas. */
interface Grant {
  readonly role: string;
  readonly action: string;
  readonly resource: string;
  readonly condition: string;
}

/**
 * `docs/permissions.md`: what each role may do with `prod`'s settings, what every other setting adds, and what
 * `encryption` adds.
 */
export function permissionsDocument(prod: string, everySetting: string, encrypted: string): string {
  const grants = grantsOf(prod);
  const known = new Set(grants.map((grant) => JSON.stringify(grant)));
  const addedIn = (assembly: string) =>
    table(grantsOf(assembly).filter((grant) => !known.has(JSON.stringify(grant))));
  return `# Permissions

Everything that each role may do, by the names of constructs. \`<Event>\` stands for each event: \`<Event>/Consumer\` may
only use the resources of its own event. Every queue, topic and bucket also rejects requests without TLS. Generated from
the template (\`npm run generate\`): a new permission is a changed line.

## The prod stage

${table(grants)}

## Added by optional settings

These are \`tracing\`, \`secretArn\` and its key, and \`cloudFront\`.

${addedIn(everySetting)}

## Added by \`encryption\`

Its key replaces the topics' key above. Consumers may use it for any service ([why](decisions.md#27-one-kms-grant-per-role)).

${addedIn(encrypted)}

## For people who run \`npx hookctl doctor\`

This policy only reads. You can limit \`secretsmanager:GetSecretValue\` and \`kms:Decrypt\` to the secret and its key. For
a missing action, \`doctor\` prints a warning that names it.

\`\`\`json
${doctorPolicy()}
\`\`\`
`;
}

function doctorPolicy(): string {
  const Action = ['cloudformation:DescribeStacks', 'kms:Decrypt', ...DOCTOR_ACTIONS].sort();
  const Statement = [{ Effect: 'Allow', Action: [...new Set(Action)], Resource: '*' }];
  return JSON.stringify({ Version: '2012-10-17', Statement }, undefined, 2);
}

function grantsOf(assembly: string): Grant[] {
  const template = new SynthesisedTemplate(assembly);
  return template
    .ofType('AWS::IAM::Role')
    .flatMap((role) =>
      template
        .permissionsOf(role)
        .map((permission) => ({ ...permission, role: role.path.replace(/\/Role$/, '') })),
    );
}

const COLUMNS = ['role', 'resource', 'action', 'condition'] as const;

const HEADINGS = {
  role: 'Role of',
  resource: 'Resource',
  action: 'Actions',
  condition: 'Condition',
} as const;

function table(grants: readonly Grant[]): string {
  const ofConsumers = collapse(grants, (grant) => withoutEvent(grant, grant.role.split('/')[0]));
  const ofAll = collapse(ofConsumers, (grant) => withoutEvent(grant));
  const rows = joined(joined(joined(ofAll, 'action'), 'role'), 'resource');
  const columns = COLUMNS.filter((column) => rows.some((row) => row[column] !== ''));
  const cell = (text: string) => (text === '' ? '' : `\`${text}\``);
  return markdownTable(
    columns.map((column) => HEADINGS[column]),
    rows.map((row) => columns.map((column) => cell(row[column]))),
  );
}

/** Replaces grants that are the same for each event of the catalogue by one grant. */
function collapse(grants: readonly Grant[], generalised: (grant: Grant) => Grant): Grant[] {
  const groups = Map.groupBy(grants, (grant) => JSON.stringify(generalised(grant)));
  return [...groups.values()].flatMap((group) =>
    group.length === eventNames.length ? group.slice(0, 1).map(generalised) : group,
  );
}

/**
 * Replaces the name of an event in a grant by `<Event>`.
 * @param only the event that is replaced, in PascalCase. Default: any
 */
function withoutEvent(grant: Grant, only?: string): Grant {
  let { role, resource } = grant;
  for (const event of eventNames) {
    const name = pascalCase(event);
    if (only !== undefined && name !== only) continue;
    const named = new RegExp(`(?<=^|/)${name}(?=/|$)`, 'g');
    role = role.replace(named, '<Event>');
    resource = resource.replace(named, '<Event>').replace(`/${event}/`, '/<event>/');
  }
  return { ...grant, role, resource };
}

/**
 * Joins grants that differ only in one column. If several actions are of one service, only the first has the
 * service's prefix.
 */
function joined(grants: readonly Grant[], column: 'role' | 'resource' | 'action'): Grant[] {
  const groups = Map.groupBy(grants, (grant) => JSON.stringify({ ...grant, [column]: '' }));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const values = group.map((grant) => grant[column]);
    return [{ ...first, [column]: values.map((value, index) => short(value, values[index - 1])).join(', ') }];
  });
}

function short(value: string, before = ''): string {
  const [service = '', action] = value.split(':');
  const isSame = /^[a-z0-9]+:[A-Z]\w+$/.test(value) && before.split(':')[0] === service;
  return isSame && action !== undefined ? action : value;
}

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
