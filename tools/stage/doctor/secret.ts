import { GetSecretValueCommand, type GetSecretValueResponse } from '@aws-sdk/client-secrets-manager';
import {
  readSecretValue,
  secretDoubt,
  UnusableSecretError,
} from '../../../lambda/receiver/webhook-secrets.ts';
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

/** The secret's versions, and until when the receiver accepts the previous one. */
async function versions(inspection: Inspection) {
  const [current, previous] = await Promise.all(
    ['AWSCURRENT', 'AWSPREVIOUS'].map((stage) => version(inspection, stage)),
  );
  const grace = Number((await inspection.receiver())?.Environment.Variables.SECRET_GRACE_SECONDS ?? 0);
  const until = new Date(Number(current?.CreatedDate ?? 0) + grace * 1000);
  return { current, previous, until };
}

/** @returns undefined if the receiver cannot use it */
function usable(version: GetSecretValueResponse | undefined): string | undefined {
  try {
    return readSecretValue(version?.SecretString);
  } catch (error) {
    if (error instanceof UnusableSecretError) return undefined;
    throw error;
  }
}

export const secretChecks: readonly StageCheck[] = [
  {
    name: 'current version',
    needs: ['secretsmanager:GetSecretValue'],
    async run(inspection) {
      const arn = inspection.stage.output('WebhookSecretArn');
      const { current, previous, until } = await versions(inspection);
      if (current === undefined) {
        const fix = `aws secretsmanager restore-secret --secret-id ${arn}`;
        const why = 'The receiver cannot verify signatures, and answers 500.';
        return failure('deleted, or without a value', { why, fix });
      }
      const back = `aws secretsmanager update-secret-version-stage --secret-id ${arn} --version-stage AWSCURRENT --move-to-version-id ${previous?.VersionId} --remove-from-version-id ${current.VersionId}`;
      const secret = usable(current);
      if (secret === undefined) {
        const seen = 'blank, binary, or JSON without WEBHOOK_SECRET';
        // Secrets Manager keeps two versions. Another new one would remove the one with which the partner signs.
        if (usable(previous) !== undefined) {
          const why =
            'New receivers answer 500. Make the previous version current again. Then store the right secret: docs/secret-rotation.md.';
          return failure(seen, { why, fix: back });
        }
        const why = 'The receiver answers 500. Give the partner the new secret.';
        const fix = `aws secretsmanager put-secret-value --secret-id ${arn} --secret-string "$(openssl rand -hex 32)"`;
        return failure(seen, { why, fix });
      }
      const seen = `readable, stored ${ago(current.CreatedDate)}`;
      const doubt = secretDoubt(secret);
      if (doubt === undefined) return ok(seen);
      if (since(until) > 0 || usable(previous) === undefined) return warning(`${seen}. ${doubt}`);
      const why =
        'If it is a mistake, make the previous version current again. Then store the right secret: docs/secret-rotation.md.';
      return warning(`${seen}. ${doubt}`, { why, fix: back });
    },
  },
  {
    name: 'previous version',
    needs: ['secretsmanager:GetSecretValue'],
    async run(inspection) {
      const { current, previous, until } = await versions(inspection);
      if (previous === undefined || current === undefined) return skipped('never rotated');
      if (usable(previous) === undefined) return ok('not accepted: it is unusable');
      const left = -since(until);
      if (left <= 0) return ok(`not accepted since ${until.toISOString()}`);
      if (usable(current) === undefined)
        return warning('not accepted, because the current version is unusable');
      return ok(`accepted until ${until.toISOString()}, for ${duration(left)}`);
    },
  },
];
