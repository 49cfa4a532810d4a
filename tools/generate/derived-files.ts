import { readFileSync } from 'node:fs';
import { readCloudAssembly } from '../../local/template/cloud-assembly.ts';
import { configurationDocument } from './configuration-document.ts';
import { withCostTables } from './cost-tables.ts';
import { drawDashboard } from './dashboard-picture.ts';
import type { DerivedFile } from './derived-file.ts';
import { eventsTable } from './events-table.ts';
import { lambdaEvents } from './lambda-events.ts';
import { permissionsDocument } from './permissions-document.ts';
import { fillPlace } from './place.ts';
import type { Assemblies } from './stages.ts';
import { statefulResources } from './stateful-resources.ts';
import { templateSnapshot } from './template-snapshot.ts';

/** Every derived file, as it follows from the code and the samples as they are now. */
export function derivedFiles(assemblies: Assemblies): DerivedFile[] {
  const { dev, prod, 'every-setting': everySetting } = assemblies;
  const within = (file: string, change: (document: string) => string): DerivedFile => ({
    file,
    text: change(readFileSync(file, 'utf8')),
  });
  return [
    ...lambdaEvents(),
    { file: 'test/lib/snapshots/dev.json', text: templateSnapshot(dev) },
    { file: 'test/lib/snapshots/prod.json', text: templateSnapshot(prod) },
    { file: 'test/lib/snapshots/stateful.txt', text: statefulResources([prod, everySetting]) },
    { file: 'docs/permissions.md', text: permissionsDocument(prod, everySetting) },
    { file: 'docs/configuration.md', text: configurationDocument() },
    { file: 'docs/dashboard.svg', text: drawDashboard(readCloudAssembly(dev).template) },
    within('docs/scale-and-cost.md', (document) => withCostTables(document, prod)),
    within('README.md', (document) => fillPlace(document, 'events', eventsTable())),
  ];
}
