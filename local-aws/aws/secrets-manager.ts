import { randomInt, randomUUID } from 'node:crypto';
import { AwsError } from './errors.ts';
import { type JsonObject, textOf, textsOf } from './json.ts';
import { arnOf, type Operations } from './services.ts';

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
  /** Staging labels. */
  stages: string[];
  /** Epoch seconds, with fractions. */
  readonly createdDate: number;
}

const CURRENT = 'AWSCURRENT';
const PREVIOUS = 'AWSPREVIOUS';

const SUFFIX_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SUFFIX_LENGTH = '-xxxxxx'.length;

/** Secrets Manager, in memory: secrets of text. */
export function createSecretsManager() {
  const secrets: Secret[] = [];

  /** @param secretId name, ARN, or ARN without its suffix */
  const find = (secretId: string) =>
    secrets.find(({ name, arn }) => [name, arn, arn.slice(0, -SUFFIX_LENGTH)].includes(secretId));

  /** @throws AwsError if the secret does not exist */
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
      const version = hasValue ? addVersion(secret.versions, parameters, [CURRENT]) : undefined;
      secrets.push(secret);
      return { ARN: arn, Name: name, VersionId: version?.id };
    },

    GetSecretValue(parameters) {
      const { arn, name, versions } = existing(parameters);
      const { id, value, stages, createdDate } = requestedVersion(versions, parameters);
      return {
        ARN: arn,
        Name: name,
        VersionId: id,
        SecretString: value,
        VersionStages: stages,
        CreatedDate: createdDate,
      };
    },

    PutSecretValue(parameters) {
      const { arn, name, versions } = existing(parameters);
      const stages = textsOf(parameters, 'VersionStages') ?? [CURRENT];
      const version = addVersion(versions, parameters, stages);
      return { ARN: arn, Name: name, VersionId: version.id, VersionStages: version.stages };
    },

    DescribeSecret(parameters) {
      const { arn, name, description, versions } = existing(parameters);
      const labelled = versions.filter(({ stages }) => stages.length > 0);
      const VersionIdsToStages = Object.fromEntries(labelled.map(({ id, stages }) => [id, stages]));
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
function addVersion(versions: SecretVersion[], parameters: JsonObject, stages: string[]): SecretVersion {
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
  const version: SecretVersion = { id, value, stages: [], createdDate: Date.now() / 1000 };
  versions.push(version);
  for (const stage of stages) attach(versions, version, stage);
  return version;
}

/** @param parameters of GetSecretValue */
function requestedVersion(versions: SecretVersion[], parameters: JsonObject): SecretVersion {
  const id = textOf(parameters, 'VersionId');
  const stage = textOf(parameters, 'VersionStage');
  const version = id === undefined ? holderOf(versions, stage ?? CURRENT) : versionWithId(versions, id);
  if (version === undefined) {
    const label = stage ?? CURRENT;
    throw notFound(`Secrets Manager can't find the specified secret value for staging label: ${label}`);
  }
  if (stage === undefined || version.stages.includes(stage)) return version;
  throw new AwsError(
    'InvalidRequestException',
    'You provided a VersionStage that is not associated to the provided VersionId.',
  );
}

function versionWithId(versions: SecretVersion[], id: string): SecretVersion {
  const version = versions.find((candidate) => candidate.id === id);
  if (version !== undefined) return version;
  throw notFound(`Secrets Manager can't find the specified secret value for VersionId: ${id}`);
}

const holderOf = (versions: SecretVersion[], stage: string) =>
  versions.find(({ stages }) => stages.includes(stage));

function detach(versions: SecretVersion[], stage: string): void {
  for (const version of versions) version.stages = version.stages.filter((label) => label !== stage);
}

/** Moves a staging label to a version. The version that loses AWSCURRENT becomes AWSPREVIOUS. */
function attach(versions: SecretVersion[], version: SecretVersion, stage: string): void {
  const holder = holderOf(versions, stage);
  if (holder === version) return;
  detach(versions, stage);
  version.stages.push(stage);
  if (stage !== CURRENT || holder === undefined) return;
  detach(versions, PREVIOUS);
  holder.stages.push(PREVIOUS);
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
