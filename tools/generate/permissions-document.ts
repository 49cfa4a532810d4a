import { eventNames } from '../../lambda/events/catalogue.ts';
import { pascalCase } from '../../lambda/events/event-names.ts';
import { SynthesisedTemplate } from '../local/template/synthesised-template.ts';
import { DOCTOR_ACTIONS } from '../stage/doctor/doctor.ts';
import { markdownTable } from './markdown-table.ts';

/** A permission of a role. Grouped ones have several roles, actions or resources, joined by commas. */
interface Grant {
  readonly role: string;
  readonly action: string;
  readonly resource: string;
  readonly condition: string;
}

/**
 * What each role may do with `prod`'s settings, what every other setting adds, and what `encryption` adds.
 */
export function permissionsDocument(prod: string, everySetting: string, encrypted: string): string {
  const grants = grantsOf(prod);
  const known = new Set(grants.map((grant) => JSON.stringify(grant)));
  const addedIn = (assembly: string) =>
    table(grantsOf(assembly).filter((grant) => !known.has(JSON.stringify(grant))));
  return `# Permissions

Each role of the stack, and everything that it may do. Resources have the names of their constructs. \`<Event>\` stands
for every event of the catalogue: \`<Event>/Consumer\` may only use the resources of its own event.

This page is generated from the synthesised template (\`npm run generate\`), and a test fails if it is out of date. So
every new permission shows up as a changed line. Every queue, topic and bucket also rejects requests without TLS.

## The prod stage

${table(grants)}

## Added by optional settings

The settings are \`tracing\`, an existing secret and its key, an existing key for the topics, and a CloudFront
distribution.

${addedIn(everySetting)}

## Added by \`encryption\`

The key of \`encryption\` also replaces the topics' key above. KMS checks the role that a service acts for. Consumers may use the
key for any service ([reason](security.md#a-key-of-ones-own)).

${addedIn(encrypted)}

## For people who run \`npx hookctl doctor\`

This policy only reads. \`secretsmanager:GetSecretValue\` and \`kms:Decrypt\`, which a secret under a key of your own also
needs, can be limited to their ARNs. Without an action, its checks are a warning that names it.

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

function table(grants: readonly Grant[]): string {
  const ofConsumers = collapse(grants, (grant) => withoutEvent(grant, grant.role.split('/')[0]));
  const ofAll = collapse(ofConsumers, (grant) => withoutEvent(grant));
  const rows = joined(joined(joined(ofAll, 'action'), 'role'), 'resource');
  const cell = (text: string) => (text === '' ? '' : `\`${text}\``);
  return markdownTable(
    ['Role of', 'Resource', 'Actions', 'Condition'],
    rows.map((row) => COLUMNS.map((column) => cell(row[column]))),
  );
}

/** One grant in place of those that are the same for each event of the catalogue. */
function collapse(grants: readonly Grant[], generalised: (grant: Grant) => Grant): Grant[] {
  const groups = Map.groupBy(grants, (grant) => JSON.stringify(generalised(grant)));
  return [...groups.values()].flatMap((group) =>
    group.length === eventNames.length ? group.slice(0, 1).map(generalised) : group,
  );
}

/** A grant with `<Event>` in place of an event. @param only the event that is replaced, in PascalCase. Default: any */
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

/** Grants that differ only in one column, as one grant. An action after another of the same service is without its prefix. */
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
