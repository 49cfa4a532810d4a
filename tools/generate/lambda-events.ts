import { readdirSync } from 'node:fs';
import { apiGatewayEvent, restApiGatewayEvent, sqsEvent } from '../../events/lambda-events.ts';
import { readSamples } from '../../events/samples.ts';
import type { DerivedFile } from './derived-file.ts';

const FOLDERS = {
  'events/api-gateway': apiGatewayEvent,
  'events/rest-api': restApiGatewayEvent,
  'events/sqs': sqsEvent,
};

export const lambdaEventFolders: readonly string[] = Object.keys(FOLDERS);

/** Every sample as Lambda events. Files of removed samples are deleted. */
export function lambdaEvents(): DerivedFile[] {
  const samples = readSamples();
  return Object.entries(FOLDERS).flatMap(([folder, toEvent]) => {
    const made = new Map(samples.map((sample) => [`${sample.name}.json`, formatted(toEvent(sample))]));
    const files = new Set([...made.keys(), ...readdirSync(folder)]);
    return [...files].map((file) => ({ file: `${folder}/${file}`, text: made.get(file) }));
  });
}

/** Matches the formatter, which puts a list of one text on one line. */
function formatted(event: object): string {
  return `${JSON.stringify(event, undefined, 2).replace(/\[\n\s+(".*")\n\s+\]/g, '[$1]')}\n`;
}
