import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { UsageError } from '../terminal/command-error.ts';

/**
 * Name of an event: at most 64 characters, far below the limits of queues, functions and outputs. Kinds that end with
 * `.unknown` are for tests.
 */
const NAME = /^(?=.{1,64}$)(?!.*\.unknown$)[a-z][a-z0-9]*\.[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

function eventName(text: string): string {
  if (NAME.test(text)) return text;
  throw new InvalidArgumentError(
    'It must be like shop.closed or girl.schedule_changed, with at most 64 characters, and not end with .unknown.',
  );
}

export const command = hookctlCommand(
  'new-event',
  'Adds an event: its files, its sample, and all generated files.',
)
  .argument('<event>', 'name of the event, such as shop.closed', eventName)
  .addOption(new Option('--like <event>', 'required: event whose files are copied').choices(eventNames))
  .option('--no-generate', 'do not update generated files')
  .action(async (name, { like, generate }) => {
    if (like === undefined) {
      throw new UsageError(`Choose the event that is most like it with --like: ${eventNames.join(', ')}`);
    }
    const { addEvent } = await import('../generate/new-event.ts');
    console.log(`Adding ${name} …`);
    const files = await addEvent(name, like, generate);
    console.log(`Change these files: their fields and texts are those of ${like}.

${files.map((file) => `  ${file}`).join('\n')}

Next: ${generate ? '' : 'npm run generate, '}npm run check and npm test`);
  });
