import { Annotations, type Stack } from 'aws-cdk-lib';
import { acknowledge } from './acknowledge.ts';
import type { StageConfig } from './config.ts';
import { didYouMean } from './did-you-mean.ts';

interface Warning {
  readonly applies: (config: StageConfig) => boolean;
  /** The text of the warning: what may be lost, and which setting prevents the loss. In complete sentences. */
  readonly message: string;
}

/** By the id that people use in `acknowledgedWarnings`. */
export const warnings: Readonly<Record<string, Warning>> = {
  'no-alarm-recipient': {
    applies: ({ alarmEmails }) => alarmEmails.length === 0,
    message: 'Alarms notify nobody. Set alarmEmails.',
  },
  'no-chat-channel': {
    applies: ({ chat }) => chat.slack === undefined && chat.teams === undefined,
    message:
      'Notifications for chat rooms are published, but no room gets them. Set chat.slack or chat.teams.',
  },
  'no-review-recipient': {
    applies: ({ reviewEmails }) => reviewEmails.length === 0,
    message: 'Notifications of reviews are published, but nobody gets them. Set reviewEmails.',
  },
  'no-reserved-concurrency': {
    applies: ({ receiver }) => receiver.reservedConcurrency === undefined,
    message:
      'A flood of forged requests can use up the concurrency of all functions in the account. Set receiver.reservedConcurrency.',
  },
  'refusals-are-lost': {
    applies: ({ gateway, receiver }) => gateway === 'http' && receiver.reservedConcurrency === undefined,
    message:
      'The partner repeats only 401 and 500. Deliveries that an HTTP API itself rejects with 429, 503 or 504 are lost, for example if other functions use up the concurrency of the account. Set gateway to rest, which answers 500, or set receiver.reservedConcurrency.',
  },
  'no-quiet-after': {
    applies: ({ quietAfter }) => quietAfter === undefined,
    message: 'If the partner stops sending, no alarm fires. Set quietAfter.',
  },
  'relative-runbook': {
    applies: ({ runbook }) => !URL.canParse(runbook),
    message:
      'Alarm mails cannot link to the runbook. Publish docs/operations.md, and set runbook to its URL.',
  },
  'wildcard-invalidations': {
    applies: ({ cloudFront }) => cloudFront?.paths.some((path) => path.includes('*')) ?? false,
    message:
      'CloudFront invalidates only 15 paths with * at a time. After a bulk update, pages of shops stay outdated for up to three days, and above 2,000 shops some events become dead letters. In cloudFront.paths, name pages without *.',
  },
};

/**
 * Warns at synthesis about settings that a stage lacks, unless the stage gives a reason. A stage that does not retain
 * its data is for trials, and gets no warning. A reason for an unknown warning is an error.
 */
export function warn(stack: Stack, config: StageConfig): void {
  const ids = Object.keys(warnings);
  for (const id of Object.keys(config.acknowledgedWarnings).filter((one) => !ids.includes(one))) {
    Annotations.of(stack).addError(
      `acknowledgedWarnings.${id}: no warning has this name.${didYouMean(id, ids)}`,
    );
  }
  if (config.removalPolicy !== 'retain') return;
  for (const [id, { applies, message }] of Object.entries(warnings)) {
    if (!applies(config)) continue;
    const reason = config.acknowledgedWarnings[id];
    if (reason !== undefined) acknowledge(stack, `partner-webhooks:${id}`, reason);
    Annotations.of(stack).addWarningV2(
      `partner-webhooks:${id}`,
      `${message} Or give your reason in acknowledgedWarnings.${id}.`,
    );
  }
}
