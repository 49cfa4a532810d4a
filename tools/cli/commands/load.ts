import { randomBytes } from 'node:crypto';
import { defaultWorkload, parseMix } from '../../measure/cost/workload.ts';
import { type LoadOperation, load } from '../../measure/load/load.ts';
import { loadTarget, MAX_CONNECTIONS, MAX_RATE, MAX_SECONDS, MAX_SHOPS } from '../../measure/load/plan.ts';
import { forPeople, outputsOption, runOperation, stageOption } from '../../stage/operation.ts';
import { currentSecret } from '../../stage/signed-post.ts';
import { localStackAt } from '../../stage/stage.ts';
import { npmScript } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { jsonOption, secretOption, wholeNumber } from '../terminal/options.ts';
import { INTERRUPTED, interruption, screenWidth } from '../terminal/terminal.ts';

export const command = npmScript(
  'load',
  'Sends signed, distinct deliveries by the clock, whatever answers take, and tells how long receipt and effect took.',
)
  .option('--url <url>', 'where to; without it to the webhook of the stack')
  .option('--i-own <host>', 'the host of --url once more, where it is not this machine')
  .addOption(secretOption())
  .option('--rate <n>', 'deliveries a second', wholeNumber(1, MAX_RATE), 100)
  .option('--seconds <n>', 'how long', wholeNumber(1, MAX_SECONDS), 30)
  .option('--ramp', 'rises to that rate in ten steps, and says at which it breaks')
  .option('--mix <weights>', 'such as shop.updated=3,review.posted=1; without it, all events alike', parseMix)
  .option('--shops <n>', 'that they are about', wholeNumber(1, MAX_SHOPS), 100)
  .option('--connections <n>', 'at a time, at most', wholeNumber(1, MAX_CONNECTIONS), 1_000)
  .option('--picture <file>', 'an SVG of the run')
  .option('--dry-run', 'ends after the plan')
  .option('--yes', 'does not ask; it does of a stage, which costs money')
  .addOption(stageOption())
  .addOption(outputsOption())
  .addOption(jsonOption())
  .addHelpText(
    'after',
    '\nFor example: npm run load -- --rate 50 --seconds 20 --ramp --picture load.svg\n' +
      'On a stage:  npm run load -- --stage load --rate 500 --seconds 60',
  )
  .action(async ({ url, iOwn, secret, stage, outputs, json, dryRun, yes, picture, ...typed }, typing) => {
    const isSecretGiven = typing.getOptionValueSource('secret') !== 'default';
    const { rate, seconds, shops, connections, ramp = false, mix = defaultWorkload.mix } = typed;
    const run = randomBytes(4).toString('hex');
    const plan = { rate, seconds, ramp, mix, shops, connections, run };
    const flags = { json: json ?? false, dryRun: dryRun ?? false, yes: yes ?? false, picture, stage };
    const start = async (operation: LoadOperation, target: URL) => {
      const { stack } = operation;
      const key = isSecretGiven || stack === undefined ? secret : await currentSecret(stack);
      return load(operation, { plan, url: target, secret: key, ...flags });
    };
    const ofStack = (webhook: string | undefined) => {
      const address = URL.parse(webhook ?? '');
      if (address === null) throw new CommandError('The stack has no output WebhookUrl: deploy it again');
      return address;
    };
    if (stage !== undefined || outputs !== undefined || url === undefined) {
      await runOperation({ stage, outputs }, (operation) => {
        const own = ofStack(operation.stack.outputs.WebhookUrl);
        // A stage found with AWS permissions may be loaded. Any other address must be confirmed by naming its host
        // twice.
        const target =
          url === undefined ? own : loadTarget(url, URL.parse(url)?.host === own.host ? own.host : iOwn);
        return start(operation, target);
      });
      return;
    }
    const target = loadTarget(url, iOwn);
    const stack = localStackAt(target);
    const signal = interruption();
    try {
      const operation = { stack, signal, printLine: console.log, width: screenWidth() };
      if (!(await start(operation, target))) process.exitCode = 1;
      if (signal.aborted) process.exitCode = INTERRUPTED;
    } catch (error) {
      throw forPeople(error, stack !== undefined);
    } finally {
      stack?.close();
    }
  });
