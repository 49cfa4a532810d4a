import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { readSecretValue, UnusableSecretError } from '../../../lambda/receiver/webhook-secrets.ts';
import { duration } from '../../terminal/text.ts';
import { ago, failure, type Inspection, ok, type StageCheck, since, skipped, warning } from './inspection.ts';

/** @returns undefined if there is no such version, or the secret is deleted */
async function version({ stage }: Inspection, VersionStage: string) {
  const SecretId = stage.output('WebhookSecretArn');
  try {
    return await stage.secrets.send(new GetSecretValueCommand({ SecretId, VersionStage }));
  } catch (error) {
    const { name } = error as Error;
    if (name === 'ResourceNotFoundException' || name === 'InvalidRequestException') return undefined;
    throw error;
  }
}

export const secretChecks: readonly StageCheck[] = [
  {
    name: 'current version',
    needs: ['secretsmanager:GetSecretValue'],
    why: 'The receiver cannot verify signatures, and answers 500. Give the partner the new secret.',
    fix: ({ stage }) =>
      `aws secretsmanager put-secret-value --secret-id ${stage.output('WebhookSecretArn')} --secret-string "$(openssl rand -hex 32)"`,
    async run(inspection) {
      const current = await version(inspection, 'AWSCURRENT');
      if (current === undefined) {
        const fix = `aws secretsmanager restore-secret --secret-id ${inspection.stage.output('WebhookSecretArn')}`;
        return failure('deleted, or without a value', { fix });
      }
      try {
        const secret = readSecretValue(current.SecretString);
        const seen = `readable, stored ${ago(current.CreatedDate)}`;
        if (secret === secret.trim()) return ok(seen);
        const why =
          'White space is part of the secret. If it was pasted by accident, every delivery gets 401.';
        return warning(`${seen}; it begins or ends with white space`, { why });
      } catch (error) {
        if (!(error instanceof UnusableSecretError)) throw error;
        return failure('blank, binary, or JSON without WEBHOOK_SECRET');
      }
    },
  },
  {
    name: 'previous version',
    needs: ['secretsmanager:GetSecretValue'],
    async run(inspection) {
      const [current, previous] = await Promise.all(
        ['AWSCURRENT', 'AWSPREVIOUS'].map((stage) => version(inspection, stage)),
      );
      if (previous === undefined || current?.CreatedDate === undefined) return skipped('never rotated');
      const [grace = 0] = (await inspection.resources('AWS::Lambda::Function')).flatMap(
        ({ properties }) => properties.Environment?.Variables?.SECRET_GRACE_SECONDS ?? [],
      );
      const until = new Date(current.CreatedDate.getTime() + Number(grace) * 1000);
      const left = -since(until);
      if (left <= 0) return ok(`not accepted since ${until.toISOString()}`);
      return ok(`accepted until ${until.toISOString()}, for ${duration(left)}`);
    },
  },
];
