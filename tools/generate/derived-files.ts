import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { apiGatewayEvent, restApiGatewayEvent, sqsEvent } from '../../events/lambda-events.ts';
import { readSamples } from '../../events/samples.ts';
import { parseConfig } from '../../lib/config.ts';
import { costTable } from '../measure/cost/cost-model.ts';
import { deployed } from '../measure/cost/deployment.ts';
import { PRICES_DATE } from '../measure/cost/prices.ts';
import { defaultWorkload } from '../measure/cost/workload.ts';
import { apiFiles } from '../partner/api/files.ts';
import { alarmsTable } from './alarms-table.ts';
import { configurationDocument } from './configuration-document.ts';
import type { DerivedFile } from './derived-file.ts';
import { eventIndex } from './event-index.ts';
import { eventsTable, partnerEventsTable } from './events-table.ts';
import { limitsTable } from './limits-table.ts';
import { logicalIds, statefulResources } from './logical-ids.ts';
import { markdownTable } from './markdown-table.ts';
import { permissionsDocument } from './permissions-document.ts';
import { type Assemblies, stages } from './stages.ts';

/** Files generated from the stack, by path. */
const OF_STACK: Readonly<Record<string, (assemblies: Assemblies) => string>> = {
  'test/lib/snapshots/logical-ids.txt': (all) => logicalIds(all),
  'test/lib/snapshots/stateful.txt': (all) => statefulResources([all.prod, all['every-setting']]),
  'docs/permissions.md': (all) => permissionsDocument(all.prod, all['every-setting'], all.encrypted),
  'docs/configuration.md': configurationDocument,
  'docs/alarms.md': () =>
    filled('docs/alarms.md', { alarms: alarmsTable(readFileSync('docs/operations.md', 'utf8')) }),
  'docs/scale-and-cost.md': ({ prod }) => filled('docs/scale-and-cost.md', { cost: costOf(prod) }),
  'docs/partner.md': () => filled('docs/partner.md', { 'partner-events': partnerEventsTable() }),
  'docs/how-it-works.md': () =>
    filled('docs/how-it-works.md', { events: eventsTable(), limits: limitsTable() }),
  'docs/commands.md': () =>
    execFileSync(process.execPath, ['tools/cli/commands-document.ts'], { encoding: 'utf8' }),
};

/** Folders of the samples as Lambda events. */
const LAMBDA_EVENTS = {
  'events/api-gateway': apiGatewayEvent,
  'events/rest-api': restApiGatewayEvent,
  'events/sqs': sqsEvent,
};

/** Every generated file, from the current code and samples. */
export function derivedFiles(assemblies: Assemblies): DerivedFile[] {
  const ofStack = Object.entries(OF_STACK).map(([file, make]) => ({ file, text: make(assemblies) }));
  return [eventIndex(), ...lambdaEvents(), ...apiFiles(), ...ofStack];
}

/** Files of removed samples are deleted. */
function lambdaEvents(): DerivedFile[] {
  const samples = readSamples();
  return Object.entries(LAMBDA_EVENTS).flatMap(([folder, toEvent]) => {
    const made = new Map(samples.map((sample) => [`${sample.name}.json`, formatted(toEvent(sample))]));
    const files = new Set([...made.keys(), ...readdirSync(folder)]);
    return [...files].map((file) => ({ file: `${folder}/${file}`, text: made.get(file) }));
  });
}

/** Matches the formatter, which puts a list of one text on one line. */
function formatted(event: object): string {
  return `${JSON.stringify(event, undefined, 2).replace(/\[\n\s+(".*")\n\s+\]/g, '[$1]')}\n`;
}

/** The charges of `prod` for some numbers of deliveries. */
function costOf(assembly: string): string {
  const workloads = [1e6, 1e7, 1e8].map((deliveries) => ({ ...defaultWorkload, deliveries }));
  const [head = [], ...rows] = costTable(deployed(parseConfig('prod', stages.prod), assembly), workloads);
  return `US dollars a month in us-east-1, list prices of ${PRICES_DATE} without free tiers:

${markdownTable(head, rows)}`;
}

const filled = (file: string, texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).reduce(
    (document, [name, text]) => fillPlace(document, name, text),
    readFileSync(file, 'utf8'),
  );

/**
 * Replaces the text between `<!-- name -->` and `<!-- /name -->` in a document.
 * @throws Error if the document has no such marks
 */
export function fillPlace(document: string, name: string, text: string): string {
  const place = new RegExp(`<!-- ${name} -->\\n[^]*?<!-- /${name} -->`);
  if (!place.test(document)) throw new Error(`The document has no <!-- ${name} --> … <!-- /${name} -->`);
  return document.replace(place, () => `<!-- ${name} -->\n\n${text}\n\n<!-- /${name} -->`);
}
