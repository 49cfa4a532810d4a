import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import { MAX_FUNCTION_SECONDS, MAX_RECORD_BYTES, RECORD_RESERVE_BYTES } from '../../../lambda/limits.ts';
import { synthesise } from '../../../local/template/synthesise.ts';
import { costReport, type ReportBlock, scaleReport } from '../../measure/cost/cost-report.ts';
import { readDeployment } from '../../measure/cost/deployment.ts';
import { MEASURED_LOG_BYTES, measureLogBytes } from '../../measure/cost/log-bytes.ts';
import { ACCOUNT_CONCURRENCY, defaultWorkload, parseMix } from '../../measure/cost/workload.ts';
import { npmScript } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { table } from '../terminal/layout.ts';
import { decimal, wholeNumber } from '../terminal/options.ts';
import { screenWidth } from '../terminal/terminal.ts';

/** A body that fits a message and its archive record (decision D13). */
const MAXIMUM_PAYLOAD_BYTES = MAX_RECORD_BYTES - RECORD_RESERVE_BYTES;

/** Source of the memory: Lambda developer guide, "Lambda quotas". */
const MEMORY = { minimum: 128, maximum: 10_240 };
const MAXIMUM_MILLISECONDS = MAX_FUNCTION_SECONDS * 1000;

/** Maximum messages of a batch. Source: Lambda developer guide, "Using Lambda with Amazon SQS". */
const MAXIMUM_BATCH = 10_000;

/** Prints the cost of a month, the resources that saturate first, and the assumptions. */
export const command = npmScript(
  'cost',
  'Estimates the monthly cost of the prod stage in dollars or, with --scale, which limit it reaches first.',
)
  .option('--deliveries <n>', 'deliveries a month', wholeNumber(1), defaultWorkload.deliveries)
  .option(
    '--payload-bytes <n>',
    'mean size in bytes of payloads that fit into a message',
    wholeNumber(1, MAXIMUM_PAYLOAD_BYTES),
    defaultWorkload.payloadBytes,
  )
  .option(
    '--receiver-ms <n>',
    'mean duration of a receiver invocation, in ms',
    wholeNumber(1, MAXIMUM_MILLISECONDS),
    defaultWorkload.receiverMilliseconds,
  )
  .option(
    '--consumer-ms <n>',
    'mean duration of a consumer invocation (one batch), in ms',
    wholeNumber(1, MAXIMUM_MILLISECONDS),
    defaultWorkload.consumerMilliseconds,
  )
  .option(
    '--batch <n>',
    'mean number of messages in a batch',
    decimal(1, MAXIMUM_BATCH),
    defaultWorkload.batch,
  )
  .option(
    '--oversize-share <n>',
    'share of deliveries, 0 to 1, too large for a message',
    decimal(0, 1),
    defaultWorkload.oversizeShare,
  )
  .option(
    '--memory <mb>',
    'memory of every function, in MB (default: as in the template)',
    wholeNumber(MEMORY.minimum, MEMORY.maximum),
  )
  .option(
    '--review-emails <n>',
    'e-mail addresses that get every review notification',
    wholeNumber(0),
    defaultWorkload.reviewEmails,
  )
  .option('--cloudfront', 'include a CloudFront invalidation for each shop update')
  .option(
    '--questions <n>',
    'Athena queries a month, each over one week of the archive',
    wholeNumber(0),
    defaultWorkload.questions,
  )
  .option(
    '--mix <weights>',
    'weights of events, such as shop.updated=3,review.posted=1 (default: all equal)',
    parseMix,
  )
  .option(
    '--account-concurrency <n>',
    'account quota of concurrent Lambda executions',
    wholeNumber(1),
    ACCOUNT_CONCURRENCY,
  )
  .option('--assembly <folder>', 'cloud assembly to read (default: synthesises prod)')
  .option('--scale', 'show which limit is reached first, and at which rate')
  .addOption(
    new Option(
      '--measure',
      'print the log bytes of a delivery, for tools/measure/cost/log-bytes.ts',
    ).conflicts('scale'),
  )
  .action(async (options) => {
    const folder = await mkdtemp(join(tmpdir(), 'cost-'));
    try {
      if (options.assembly === undefined) await synthesise(folder, { stage: 'prod' });
      const assembly = options.assembly ?? folder;
      if (!existsSync(join(assembly, 'manifest.json'))) {
        throw new CommandError(
          `No cloud assembly in ${assembly}. Make one with: npx cdk synth --output ${assembly}`,
        );
      }
      if (options.measure) {
        console.log(await measureLogBytes(assembly));
        return;
      }
      const workload = {
        deliveries: options.deliveries,
        payloadBytes: options.payloadBytes,
        receiverMilliseconds: options.receiverMs,
        consumerMilliseconds: options.consumerMs,
        batch: options.batch,
        oversizeShare: options.oversizeShare,
        memoryMegabytes: options.memory,
        mix: options.mix ?? defaultWorkload.mix,
        reviewEmails: options.reviewEmails,
        cloudFront: options.cloudfront ?? false,
        questions: options.questions,
      };
      const deployment = readDeployment(assembly);
      const report = options.scale
        ? scaleReport(workload, deployment, options.accountConcurrency)
        : costReport(workload, deployment, MEASURED_LOG_BYTES);
      console.log(report.map(shown).join('\n\n'));
    } finally {
      await rm(folder, { recursive: true });
    }
  });

function shown(block: ReportBlock): string {
  if (typeof block === 'string') return block;
  const numeric = (index: number) =>
    block.rows.every((cells) => /^[−+]?[\d,.]*( a million)?$/.test(cells[index] ?? ''));
  return table(
    block.head.map((heading, index) => ({ heading, align: numeric(index) ? 'right' : 'left' })),
    block.rows,
    screenWidth(),
  ).join('\n');
}
