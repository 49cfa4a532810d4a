import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { EffectName } from '../../lambda/events/definition.ts';
import { eventTemplates } from '../generate/event-template.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { UsageError } from '../terminal/command-error.ts';

const effects = Object.keys(eventTemplates) as EffectName[];

/**
 * Name of an event: at most 64 characters, far below the limits of queues, functions and outputs. Kinds that end with
 * `.unknown` are for tests.
 */
const NAME = /^(?=.{1,64}$)(?!.*\.unknown$)[a-z][a-z0-9]*\.[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

/**
 * Name of the field with the id, such as `shop_id`. The acceptance suite gives its own values to fields that end with
 * `_id`.
 */
const ID = /^[a-z][a-z0-9]*(_[a-z0-9]+)*_id$/;

const matching = (pattern: RegExp, shape: string) => (text: string) => {
  if (pattern.test(text)) return text;
  throw new InvalidArgumentError(`It must be ${shape}.`);
};

const eventName = matching(
  NAME,
  'like shop.closed or girl.schedule_changed, with at most 64 characters, and not end with .unknown',
);
const idField = matching(ID, 'a field such as shop_id, in lower case and ending in _id');

export const command = hookctlCommand(
  'new-event',
  'Adds an event: its files, its sample, and all generated files.',
)
  .argument('<event>', 'name of the event, such as shop.closed', eventName)
  .addOption(new Option('--effect <effect>', 'required: effect of the event').choices(effects))
  .option(
    '--id <field>',
    'field of data that has the id, such as door_id (default: as the effect needs it)',
    idField,
  )
  .option('--no-generate', 'do not update generated files')
  .action(async (name, { effect, id, generate }) => {
    if (effect === undefined) throw new UsageError(`Choose an effect with --effect: ${effects.join(', ')}`);
    const { addEvent } = await import('../generate/new-event.ts');
    console.log(`Adding ${name} …`);
    const files = addEvent({ name, effect, id }, generate);
    console.log(`Check these files: fields and texts are assumptions until the partner shows them.

${files.map((file) => `  ${file}`).join('\n')}

Next: ${generate ? '' : 'npm run generate, '}npm run check and npm test`);
  });
