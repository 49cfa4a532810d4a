import { randomInt, randomUUID } from 'node:crypto';
import { AwsError } from './errors.ts';
import { type JsonObject, textOf } from './json.ts';
import { arnOf, type Operations } from './service-forms.ts';

interface Secret {
  readonly name: string;
  readonly arn: string;
  readonly description: string | undefined;
  /** Versions of the secret, oldest first. */
  readonly versions: SecretVersion[];
}

interface SecretVersion {
  readonly id: string;
  readonly value: string;
  /** Epoch seconds, with fractions. */
  readonly createdDate: number;
}

const CURRENT = 'AWSCURRENT';
const PREVIOUS = 'AWSPREVIOUS';

const SUFFIX_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SUFFIX_LENGTH = '-xxxxxx'.length;

/**
 * Secrets Manager, in memory: secrets of text. The newest version is AWSCURRENT, the one before it AWSPREVIOUS. There are
 * no other staging labels.
 */
export function createSecretsManager() {
  const secrets: Secret[] = [];

  /** @param secretId name, ARN, or ARN without its suffix */
  const find = (secretId: string) =>
    secrets.find(({ name, arn }) => [name, arn, arn.slice(0, -SUFFIX_LENGTH)].includes(secretId));

  function existing(parameters: JsonObject): Secret {
    const secret = find(textOf(parameters, 'SecretId') ?? '');
    if (secret !== undefined) return secret;
    throw notFound("Secrets Manager can't find the specified secret.");
  }

  const operations: Operations = {
    CreateSecret(parameters) {
      const name = textOf(parameters, 'Name') ?? '';
      if (find(name) !== undefined) {
        const message = `The operation failed because the secret ${name} already exists.`;
        throw new AwsError('ResourceExistsException', message);
      }
      const arn = arnOf('secretsmanager', `secret:${name}${arnSuffix()}`);
      const secret: Secret = { name, arn, description: textOf(parameters, 'Description'), versions: [] };
      const hasValue = parameters.SecretString !== undefined || parameters.SecretBinary !== undefined;
      const version = hasValue ? addVersion(secret.versions, parameters) : undefined;
      secrets.push(secret);
      return { ARN: arn, Name: name, VersionId: version?.id };
    },

    GetSecretValue(parameters) {
      const { arn, name, versions } = existing(parameters);
      const { id, value, createdDate } = requestedVersion(versions, parameters);
      return {
        ARN: arn,
        Name: name,
        VersionId: id,
        SecretString: value,
        VersionStages: stagesOf(versions, id),
        CreatedDate: createdDate,
      };
    },

    PutSecretValue(parameters) {
      const { arn, name, versions } = existing(parameters);
      if (parameters.VersionStages !== undefined) {
        throw invalidParameter('The local AWS endpoint does not support VersionStages.');
      }
      const { id } = addVersion(versions, parameters);
      return { ARN: arn, Name: name, VersionId: id, VersionStages: stagesOf(versions, id) };
    },

    DescribeSecret(parameters) {
      const { arn, name, description, versions } = existing(parameters);
      const labelled = versions.slice(-2).map(({ id }) => [id, stagesOf(versions, id)]);
      const VersionIdsToStages = Object.fromEntries(labelled);
      return { ARN: arn, Name: name, Description: description, VersionIdsToStages };
    },

    DeleteSecret(parameters) {
      const secret = existing(parameters);
      if (parameters.ForceDeleteWithoutRecovery !== true) {
        throw invalidParameter(
          'The local AWS endpoint has no recovery window: it needs ForceDeleteWithoutRecovery.',
        );
      }
      secrets.splice(secrets.indexOf(secret), 1);
      return { ARN: secret.arn, Name: secret.name, DeletionDate: Date.now() / 1000 };
    },
  };
  return { operations, arnOf: (secretId: string) => find(secretId)?.arn };
}

/** Adds a version. A repeated call with the same token and value finds the version of the first call. */
function addVersion(versions: SecretVersion[], parameters: JsonObject): SecretVersion {
  const value = textOf(parameters, 'SecretString');
  if (value === undefined || parameters.SecretBinary !== undefined) {
    throw invalidParameter('The local AWS endpoint stores SecretString, and no SecretBinary.');
  }
  const id = textOf(parameters, 'ClientRequestToken') ?? randomUUID();
  const earlier = versions.find((version) => version.id === id);
  if (earlier?.value === value) return earlier;
  if (earlier !== undefined) {
    throw new AwsError(
      'ResourceExistsException',
      "You can't use ClientRequestToken because that value is already in use for a version of this secret.",
    );
  }
  const version: SecretVersion = { id, value, createdDate: Date.now() / 1000 };
  versions.push(version);
  return version;
}

function stagesOf(versions: readonly SecretVersion[], id: string): string[] {
  if (versions.at(-1)?.id === id) return [CURRENT];
  return versions.at(-2)?.id === id ? [PREVIOUS] : [];
}

function requestedVersion(versions: SecretVersion[], parameters: JsonObject): SecretVersion {
  const id = textOf(parameters, 'VersionId');
  const stage = textOf(parameters, 'VersionStage') ?? (id === undefined ? CURRENT : undefined);
  const version = versions.find((one) =>
    id === undefined ? stagesOf(versions, one.id).includes(String(stage)) : one.id === id,
  );
  if (version === undefined) {
    const which = id === undefined ? `staging label: ${stage}` : `VersionId: ${id}`;
    throw notFound(`Secrets Manager can't find the specified secret value for ${which}`);
  }
  if (stage === undefined || stagesOf(versions, version.id).includes(stage)) return version;
  throw new AwsError(
    'InvalidRequestException',
    'You provided a VersionStage that is not associated to the provided VersionId.',
  );
}

/** Random suffix of an ARN. A secret that is deleted and created again gets another ARN. */
function arnSuffix(): string {
  const characters = Array.from({ length: SUFFIX_LENGTH - 1 }, () =>
    SUFFIX_CHARACTERS.charAt(randomInt(SUFFIX_CHARACTERS.length)),
  );
  return `-${characters.join('')}`;
}

const notFound = (message: string) => new AwsError('ResourceNotFoundException', message);
const invalidParameter = (message: string) => new AwsError('InvalidParameterException', message);
