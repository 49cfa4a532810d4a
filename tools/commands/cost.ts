import { Option } from '@commander-js/extra-typings';
import { MAX_FUNCTION_SECONDS, MAX_RECORD_BYTES, RECORD_RESERVE_BYTES } from '../../lambda/limits.ts';
import { costTable } from '../cost/cost-model.ts';
import { deploymentOf } from '../cost/deployment.ts';
import { PRICES_DATE } from '../cost/prices.ts';
import { parseMix, defaultWorkload as usual } from '../cost/workload.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { table } from '../terminal/layout.ts';
import { decimal, wholeNumber } from '../terminal/options.ts';
import { screenWidth } from '../terminal/terminal.ts';

/**
 * Parses the size of a payload. The maximum is what fits into a message and an archive record (decision D13).
 */
const payloadBytes = wholeNumber(1, MAX_RECORD_BYTES - RECORD_RESERVE_BYTES);
const milliseconds = wholeNumber(1, MAX_FUNCTION_SECONDS * 1000);
/** Maximum messages of a batch. Source: Lambda developer guide, "Using Lambda with Amazon SQS". */
const MAX_BATCH = 10_000;

export const command = hookctlCommand('cost', 'Estimates the monthly cost of a stage by service, in dollars.')
  .option('--deliveries <n>', 'deliveries a month', wholeNumber(1), usual.deliveries)
  .option('--payload-bytes <n>', 'mean size of a payload, in bytes', payloadBytes, usual.payloadBytes)
  .option('--receiver-ms <n>', 'mean duration of the receiver', milliseconds, usual.receiverMs)
  .option('--consumer-ms <n>', 'mean duration of a consumer, for one batch', milliseconds, usual.consumerMs)
  .option('--batch <n>', 'mean number of messages in a batch', decimal(1, MAX_BATCH), usual.batch)
  .addOption(
    new Option('--mix <weights>', 'weights of events, such as shop.updated=3,review.posted=1')
      .argParser(parseMix)
      .default(usual.mix, 'all equal'),
  )
  .option('--stage <name>', 'stage in cdk.json', 'prod')
  .action(async ({ stage, ...workload }) => {
    const [head = [], ...rows] = costTable(await deploymentOf(stage), workload);
    const columns = head.map(
      (heading, index) => ({ heading, align: index === 0 ? 'left' : 'right' }) as const,
    );
    const { receiverMs, consumerMs, batch } = workload;
    console.log(`US dollars a month in us-east-1, list prices of ${PRICES_DATE} without free tiers

${table(columns, rows, screenWidth()).join('\n')}

Assumed: receiver ${receiverMs} ms, consumer ${consumerMs} ms, messages in a batch ${batch}. See docs/scale-and-cost.md.`);
  });
