import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { API_FOLDER, apiFiles } from '../partner/api/files.ts';
import { alarmsTable } from './alarms-table.ts';
import { checkSenderFile } from './check-sender-file.ts';
import { configurationDocument } from './configuration-document.ts';
import { withCostTables } from './cost-tables.ts';
import type { DerivedFile } from './derived-file.ts';
import { EVENT_INDEX, eventIndex } from './event-index.ts';
import { eventsTable, partnerEventsTable } from './events-table.ts';
import { lambdaEventFolders, lambdaEvents } from './lambda-events.ts';
import { limitsTable } from './limits-table.ts';
import { fillPlace } from './marked-section.ts';
import { permissionsDocument } from './permissions-document.ts';
import type { Assemblies } from './stages.ts';
import { statefulResources, templateDifferences, templateSnapshot } from './template-snapshot.ts';

export const PROD_SNAPSHOT = 'test/lib/snapshots/prod.json';

/** Files generated from the stack, by path. */
const OF_STACK: Readonly<Record<string, (assemblies: Assemblies) => string>> = {
  [PROD_SNAPSHOT]: ({ prod }) => templateSnapshot(prod),
  'test/lib/snapshots/dev-differences.txt': ({ dev, prod }) => templateDifferences({ from: prod, to: dev }),
  'test/lib/snapshots/stateful.txt': (all) => statefulResources([all.prod, all['every-setting']]),
  'docs/permissions.md': (all) => permissionsDocument(all.prod, all['every-setting'], all.encrypted),
  'docs/configuration.md': configurationDocument,
  'docs/alarms.md': () => {
    const table = alarmsTable(readFileSync('docs/operations.md', 'utf8'));
    return fillPlace(readFileSync('docs/alarms.md', 'utf8'), 'alarms', table);
  },
  'docs/scale-and-cost.md': ({ prod }) =>
    withCostTables(readFileSync('docs/scale-and-cost.md', 'utf8'), prod),
  'docs/partner.md': () =>
    fillPlace(readFileSync('docs/partner.md', 'utf8'), 'partner-events', partnerEventsTable()),
  'docs/how-it-works.md': () =>
    fillPlace(
      fillPlace(readFileSync('docs/how-it-works.md', 'utf8'), 'events', eventsTable()),
      'limits',
      limitsTable(),
    ),
  'docs/commands.md': () =>
    execFileSync(process.execPath, ['tools/cli/commands-document.ts'], { encoding: 'utf8' }),
};

export const derivedPlaces: readonly string[] = [
  EVENT_INDEX,
  ...lambdaEventFolders,
  API_FOLDER,
  ...Object.keys(OF_STACK),
];

/** Every generated file, from the current code and samples. */
export function derivedFiles(assemblies: Assemblies): DerivedFile[] {
  const ofStack = Object.entries(OF_STACK).map(([file, make]) => ({ file, text: make(assemblies) }));
  return [eventIndex(), ...lambdaEvents(), ...apiFiles(), checkSenderFile(), ...ofStack];
}
