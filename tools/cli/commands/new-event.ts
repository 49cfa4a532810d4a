import { Option } from '@commander-js/extra-typings';
import type { EffectName } from '../../../lambda/events/definition.ts';
import { templates } from '../../generate/event-template.ts';
import { npmScript } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';

const effects = Object.keys(templates) as EffectName[];

export const command = npmScript(
  'new-event',
  'Adds an event: its definition, consumer and sample, and all generated files.',
)
  .argument('<event>', 'name of the event, such as shop.closed')
  .addOption(new Option('--effect <effect>', 'required: effect of the event').choices(effects))
  .option('--id <field>', 'field of data that identifies the shop, staff member or user, such as shop_id')
  .option('--meaning <text>', 'what happened at the partner (default: the words of the name)')
  .option('--no-generate', 'do not update generated files: run npm run generate yourself')
  .action(async (name, { effect, generate, ...wish }) => {
    if (effect === undefined)
      throw new CommandError(`Choose the effect of its consumer with --effect: one of ${effects.join(', ')}`);
    const { addEvent, checkedEvent } = await import('../../generate/new-event.ts');
    const event = checkedEvent({ name, effect, ...wish });
    console.log(`Adding ${name} …`);
    const files = await addEvent(event, generate);
    const followed = generate
      ? 'All generated files are up to date: git status shows them. Next:\n'
      : 'The generated files are not up to date yet. Next:\n\n  npm run generate';
    console.log(`
Written. Check these files: fields and texts are assumptions until the partner shows them.

${files.map((file) => `  ${file}`).join('\n')}

${followed}
  npm run check
  npm test
  npm start
  npm run send -- ${name} --wait
`);
  });
