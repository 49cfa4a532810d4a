import { randomBytes } from 'node:crypto';
import { defaultWorkload, parseMix } from '../cost/workload.ts';
import { load } from '../load/load.ts';
import { loadTarget, MAX_CONNECTIONS, MAX_RATE, MAX_SECONDS, MAX_SHOPS } from '../load/plan.ts';
import { outputsOption, runOperation, stageOption } from '../stage/operation.ts';
import { currentSecret } from '../stage/signed-post.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { jsonOption, SECRET_OF_STACK, secretOption, wholeNumber } from '../terminal/options.ts';
import { typedPath } from '../terminal/project-folder.ts';

export const command = hookctlCommand(
  'load',
  'Sends signed deliveries at a fixed rate, and measures how long answers and effects take.',
)
  .option('--url <url>', 'address to send to (default: the webhook of the stack)')
  .option('--i-own <host>', 'confirm that you own the host of --url')
  .addOption(secretOption(SECRET_OF_STACK))
  .option('--rate <n>', 'deliveries per second', wholeNumber(1, MAX_RATE), 100)
  .option('--seconds <n>', 'duration in seconds', wholeNumber(1, MAX_SECONDS), 30)
  .option('--ramp', 'raise the rate to --rate in ten steps, and report the step that fails')
  .option(
    '--mix <weights>',
    'weights of events, such as shop.updated=3,review.posted=1 (default: all equal)',
    parseMix,
  )
  .option('--shops <n>', 'number of different shops', wholeNumber(1, MAX_SHOPS), 100)
  .option('--connections <n>', 'maximum number of open connections', wholeNumber(1, MAX_CONNECTIONS), 1_000)
  .option('--picture <file>', 'write a chart to this SVG file', typedPath)
  .option('--dry-run', 'only show the plan')
  .option('--yes', 'do not ask for confirmation')
  .addOption(stageOption())
  .addOption(outputsOption())
  .addOption(jsonOption())
  .addHelpText(
    'after',
    '\nExamples:\n  npx hookctl load --rate 50 --seconds 20 --ramp --picture load.svg\n' +
      '  npx hookctl load --stage load --rate 500 --seconds 60',
  )
  .action(async ({ url, iOwn, stage, outputs, ...typed }, typing) => {
    const { rate, seconds, shops, connections, ramp = false, mix = defaultWorkload.mix } = typed;
    const plan = { rate, seconds, ramp, mix, shops, connections, run: randomBytes(4).toString('hex') };
    const isNamed = stage !== undefined || outputs !== undefined;
    if (url !== undefined && !isNamed) loadTarget(url, iOwn);
    await runOperation(isNamed || url === undefined ? { stage, outputs } : { url }, async (operation) => {
      const { stack } = operation;
      const own = new URL(stack.webhookUrl);
      // A stage found with AWS permissions may be loaded. For another address, the user must repeat the
      // host's name.
      const confirmed = URL.parse(url ?? '')?.host === own.host ? own.host : iOwn;
      const target = url === undefined ? own : loadTarget(url, confirmed);
      const isSecretOfStack =
        typing.getOptionValueSource('secret') === 'default' && stack.outputs.WebhookSecretArn !== undefined;
      const secret = isSecretOfStack ? await currentSecret(stack) : typed.secret;
      return load(operation, { ...typed, plan, url: target, secret, stage });
    });
  });
