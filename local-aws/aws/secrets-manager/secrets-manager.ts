import { randomInt } from 'node:crypto';
import { AwsError } from '../errors.ts';
import { type JsonObject, objectsOf, textOf, textsOf } from '../json.ts';
import { arnOf, type Operations } from '../services.ts';
import {
  addVersion,
  attach,
  CURRENT,
  detach,
  epochSeconds,
  holderOf,
  invalidParameter,
  invalidRequest,
  notFound,
  requestedVersion,
  type SecretVersion,
  versionWithId,
} from './secret-versions.ts';

interface Secret {
  readonly name: string;
  readonly arn: string;
  description: string | undefined;
  kmsKeyId: string | undefined;
  readonly tags: { Key: string | undefined; Value: string | undefined }[];
  /** Versions of the secret, oldest first. */
  readonly versions: SecretVersion[];
  /** Epoch seconds with fractions, as in the API. The same holds for the other times. */
  readonly createdDate: number;
  lastChangedDate: number;
  lastAccessedDate: number | undefined;
  deletedDate: number | undefined;
}

/** Secrets Manager, in memory. */
export interface SecretsManager {
  readonly operations: Operations;
  /** The full ARN of the secret with this name, ARN, or ARN without its suffix. */
  arnOf(secretId: string): string | undefined;
}

const SECONDS_PER_DAY = 86_400;
const DEFAULT_RECOVERY_DAYS = 30;

export function createSecretsManager(): SecretsManager {
  const store = new SecretStore();
  return {
    operations: { ...valueOperations(store), ...otherOperations(store) },
    arnOf: (secretId) => store.find(secretId)?.arn,
  };
}

class SecretStore {
  readonly secrets: Secret[] = [];

  find(secretId: string): Secret | undefined {
    return this.secrets.find(({ name, arn }) => [name, arn, arn.slice(0, -SUFFIX_LENGTH)].includes(secretId));
  }

  /** @throws AwsError if the secret does not exist */
  existing(parameters: JsonObject): Secret {
    const secret = this.find(textOf(parameters, 'SecretId') ?? '');
    if (secret === undefined) throw notFound("Secrets Manager can't find the specified secret.");
    return secret;
  }

  /** @throws AwsError if the secret does not exist, or is marked for deletion */
  usable(parameters: JsonObject): Secret {
    const secret = this.existing(parameters);
    if (secret.deletedDate === undefined) return secret;
    throw invalidRequest(
      "You can't perform this operation on the secret because it was marked for deletion.",
    );
  }
}

/** Operations on secrets and their values. */
function valueOperations(store: SecretStore): Operations {
  return {
    CreateSecret(parameters) {
      const name = textOf(parameters, 'Name') ?? '';
      const clash = store.find(name);
      if (clash?.deletedDate !== undefined) {
        throw invalidRequest(
          "You can't create this secret because a secret with this name is already scheduled for deletion.",
        );
      }
      if (clash !== undefined) {
        throw new AwsError(
          'ResourceExistsException',
          `The operation failed because the secret ${name} already exists.`,
        );
      }
      const now = epochSeconds();
      const secret: Secret = {
        name,
        arn: arnOf('secretsmanager', `secret:${name}${arnSuffix()}`),
        description: textOf(parameters, 'Description'),
        kmsKeyId: textOf(parameters, 'KmsKeyId'),
        tags: objectsOf(parameters, 'Tags').map((tag) => ({
          Key: textOf(tag, 'Key'),
          Value: textOf(tag, 'Value'),
        })),
        versions: [],
        createdDate: now,
        lastChangedDate: now,
        lastAccessedDate: undefined,
        deletedDate: undefined,
      };
      const version = hasValue(parameters) ? addVersion(secret.versions, parameters, [CURRENT]) : undefined;
      store.secrets.push(secret);
      return { ARN: secret.arn, Name: name, VersionId: version?.id };
    },

    GetSecretValue(parameters) {
      const secret = store.usable(parameters);
      const version = requestedVersion(secret.versions, parameters);
      secret.lastAccessedDate = epochSeconds();
      return {
        ARN: secret.arn,
        Name: secret.name,
        VersionId: version.id,
        SecretString: version.secretString,
        SecretBinary: version.secretBinary,
        VersionStages: version.stages,
        CreatedDate: version.createdDate,
      };
    },

    PutSecretValue(parameters) {
      const secret = store.usable(parameters);
      const stages = textsOf(parameters, 'VersionStages') ?? [CURRENT];
      const version = addVersion(secret.versions, parameters, stages);
      secret.lastChangedDate = Math.max(secret.lastChangedDate, version.createdDate);
      return { ARN: secret.arn, Name: secret.name, VersionId: version.id, VersionStages: version.stages };
    },

    UpdateSecret(parameters) {
      const secret = store.usable(parameters);
      const version = hasValue(parameters) ? addVersion(secret.versions, parameters, [CURRENT]) : undefined;
      secret.description = textOf(parameters, 'Description') ?? secret.description;
      secret.kmsKeyId = textOf(parameters, 'KmsKeyId') ?? secret.kmsKeyId;
      secret.lastChangedDate = epochSeconds();
      return { ARN: secret.arn, Name: secret.name, VersionId: version?.id };
    },
  };
}

/** Operations on staging labels, lists and deletion. */
function otherOperations(store: SecretStore): Operations {
  return {
    UpdateSecretVersionStage(parameters) {
      const secret = store.usable(parameters);
      const stage = textOf(parameters, 'VersionStage') ?? '';
      const from = textOf(parameters, 'RemoveFromVersionId');
      const to = textOf(parameters, 'MoveToVersionId');
      const holder = holderOf(secret.versions, stage)?.id;
      if (from !== holder && !(from === undefined && to === holder)) {
        throw invalidParameter(
          `The parameter RemoveFromVersionId must be the version that the staging label ${stage} is attached to, which is ${holder ?? 'none'}.`,
        );
      }
      const target = to === undefined ? undefined : versionWithId(secret.versions, to);
      if (target === undefined && stage === CURRENT) {
        throw invalidParameter(`You can only move the staging label ${CURRENT} to a different version.`);
      }
      if (target === undefined) detach(secret.versions, stage);
      else attach(secret.versions, target, stage);
      secret.lastChangedDate = epochSeconds();
      return { ARN: secret.arn, Name: secret.name };
    },

    DescribeSecret: (parameters) => describe(store.existing(parameters)),

    ListSecrets(parameters) {
      const shown = store.secrets.filter(
        ({ deletedDate }) => deletedDate === undefined || parameters.IncludePlannedDeletion === true,
      );
      return {
        SecretList: shown.map((secret) => {
          const { VersionIdsToStages: SecretVersionsToStages, ...entry } = describe(secret);
          return { ...entry, SecretVersionsToStages };
        }),
      };
    },

    DeleteSecret(parameters) {
      const secret = store.existing(parameters);
      const now = epochSeconds();
      if (parameters.ForceDeleteWithoutRecovery === true) {
        store.secrets.splice(store.secrets.indexOf(secret), 1);
        return { ARN: secret.arn, Name: secret.name, DeletionDate: now };
      }
      const days = Number(parameters.RecoveryWindowInDays ?? DEFAULT_RECOVERY_DAYS);
      secret.deletedDate ??= now;
      return { ARN: secret.arn, Name: secret.name, DeletionDate: now + days * SECONDS_PER_DAY };
    },
  };
}

function describe(secret: Secret): JsonObject {
  const labelled = secret.versions.filter(({ stages }) => stages.length > 0);
  return {
    ARN: secret.arn,
    Name: secret.name,
    Description: secret.description,
    KmsKeyId: secret.kmsKeyId,
    Tags: secret.tags,
    CreatedDate: secret.createdDate,
    LastChangedDate: secret.lastChangedDate,
    LastAccessedDate: secret.lastAccessedDate,
    DeletedDate: secret.deletedDate,
    VersionIdsToStages: Object.fromEntries(labelled.map(({ id, stages }) => [id, stages])),
  };
}

function hasValue(parameters: JsonObject): boolean {
  return parameters.SecretString !== undefined || parameters.SecretBinary !== undefined;
}

const SUFFIX_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SUFFIX_LENGTH = '-xxxxxx'.length;

/**
 * Random suffix of an ARN: a hyphen and six characters. A secret that is deleted and created again gets
 * another ARN.
 */
function arnSuffix(): string {
  const characters = Array.from({ length: SUFFIX_LENGTH - 1 }, () =>
    SUFFIX_CHARACTERS.charAt(randomInt(SUFFIX_CHARACTERS.length)),
  );
  return `-${characters.join('')}`;
}
