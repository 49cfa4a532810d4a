import { randomInt, randomUUID } from 'node:crypto';
import { AwsError } from '../errors.ts';
import { type JsonObject, textOf, textsOf } from '../json.ts';
import { arnOf, type Operations } from '../services.ts';

const CURRENT = 'AWSCURRENT';
const PREVIOUS = 'AWSPREVIOUS';

const SECONDS_PER_DAY = 86_400;
const DEFAULT_RECOVERY_DAYS = 30;

interface SecretVersion {
  readonly id: string;
  readonly secretString: string;
  stages: string[];
  /** Epoch seconds with a fraction. */
  readonly createdDate: number;
}

interface Secret {
  readonly name: string;
  readonly arn: string;
  readonly description: string | undefined;
  /** Oldest first. */
  readonly versions: SecretVersion[];
  /** Times are epoch seconds with a fraction, as in the API. */
  readonly createdDate: number;
  lastChangedDate: number;
  lastAccessedDate: number | undefined;
  deletedDate: number | undefined;
}

/** Secrets Manager, in memory: the operations by which a secret is read, rotated and deleted. */
export interface SecretsManager {
  readonly operations: Operations;
  /** The full ARN of the secret with this name, ARN, or ARN without its suffix. */
  arnOf(secretId: string): string | undefined;
}

export function createSecretsManager(): SecretsManager {
  const secrets: Secret[] = [];

  const find = (secretId: string): Secret | undefined =>
    secrets.find(({ name, arn }) => [name, arn, arn.slice(0, -SUFFIX_LENGTH)].includes(secretId));

  /** @throws AwsError if there is no such secret */
  function existing(parameters: JsonObject): Secret {
    const id = textOf(parameters, 'SecretId');
    if (!id) throw invalidParameter('You must provide a value for the SecretId parameter.');
    const secret = find(id);
    if (secret === undefined) throw notFound("Secrets Manager can't find the specified secret.");
    return secret;
  }

  /** @throws AwsError if there is no such secret, or it is marked for deletion */
  function usable(parameters: JsonObject): Secret {
    const secret = existing(parameters);
    if (secret.deletedDate === undefined) return secret;
    throw invalidRequest(
      "You can't perform this operation on the secret because it was marked for deletion.",
    );
  }

  const operations: Operations = {
    CreateSecret(parameters) {
      const name = textOf(parameters, 'Name');
      if (!name) throw invalidParameter('You must provide a value for the Name parameter.');
      const clash = find(name);
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
        versions: [],
        createdDate: now,
        lastChangedDate: now,
        lastAccessedDate: undefined,
        deletedDate: undefined,
      };
      const hasValue = parameters.SecretString !== undefined;
      const version = hasValue ? addVersion(secret.versions, parameters, [CURRENT]) : undefined;
      secrets.push(secret);
      return { ARN: secret.arn, Name: name, VersionId: version?.id };
    },

    GetSecretValue(parameters) {
      const secret = usable(parameters);
      const version = requestedVersion(secret.versions, parameters);
      secret.lastAccessedDate = epochSeconds();
      return {
        ARN: secret.arn,
        Name: secret.name,
        VersionId: version.id,
        SecretString: version.secretString,
        VersionStages: version.stages,
        CreatedDate: version.createdDate,
      };
    },

    PutSecretValue(parameters) {
      const secret = usable(parameters);
      const stages = textsOf(parameters, 'VersionStages') ?? [CURRENT];
      const version = addVersion(secret.versions, parameters, stages);
      secret.lastChangedDate = Math.max(secret.lastChangedDate, version.createdDate);
      return { ARN: secret.arn, Name: secret.name, VersionId: version.id, VersionStages: version.stages };
    },

    DescribeSecret: (parameters) => describe(existing(parameters)),

    ListSecrets(parameters) {
      const shown = secrets.filter(
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
      const secret = existing(parameters);
      const now = epochSeconds();
      if (parameters.ForceDeleteWithoutRecovery === true) {
        secrets.splice(secrets.indexOf(secret), 1);
        return { ARN: secret.arn, Name: secret.name, DeletionDate: now };
      }
      const days = Number(parameters.RecoveryWindowInDays ?? DEFAULT_RECOVERY_DAYS);
      secret.deletedDate ??= now;
      return { ARN: secret.arn, Name: secret.name, DeletionDate: now + days * SECONDS_PER_DAY };
    },
  };

  return { operations, arnOf: (secretId) => find(secretId)?.arn };
}

/** Adds a version, or finds the version that an earlier call with the same token and value added. */
function addVersion(versions: SecretVersion[], parameters: JsonObject, stages: string[]): SecretVersion {
  const secretString = textOf(parameters, 'SecretString');
  if (secretString === undefined) {
    throw invalidParameter('You must provide SecretString. The local AWS endpoint has no binary secrets.');
  }
  const id = textOf(parameters, 'ClientRequestToken') ?? randomUUID();
  const earlier = versions.find((version) => version.id === id);
  if (earlier !== undefined) {
    if (earlier.secretString === secretString) return earlier;
    throw new AwsError(
      'ResourceExistsException',
      "You can't use ClientRequestToken because that value is already in use for a version of this secret.",
    );
  }
  const version: SecretVersion = { id, secretString, stages: [], createdDate: epochSeconds() };
  versions.push(version);
  for (const stage of stages) attach(versions, version, stage);
  return version;
}

/** @param parameters of GetSecretValue */
function requestedVersion(versions: SecretVersion[], parameters: JsonObject): SecretVersion {
  const id = textOf(parameters, 'VersionId');
  const stage = textOf(parameters, 'VersionStage');
  if (id === undefined) {
    const label = stage ?? CURRENT;
    const version = holderOf(versions, label);
    if (version !== undefined) return version;
    throw notFound(`Secrets Manager can't find the specified secret value for staging label: ${label}`);
  }
  const version = versions.find((candidate) => candidate.id === id);
  if (version === undefined) {
    throw notFound(`Secrets Manager can't find the specified secret value for VersionId: ${id}`);
  }
  if (stage === undefined || version.stages.includes(stage)) return version;
  throw invalidRequest('You provided a VersionStage that is not associated to the provided VersionId.');
}

function holderOf(versions: SecretVersion[], stage: string): SecretVersion | undefined {
  return versions.find(({ stages }) => stages.includes(stage));
}

function detach(versions: SecretVersion[], stage: string): void {
  for (const version of versions) version.stages = version.stages.filter((label) => label !== stage);
}

/** Moves a staging label to a new version. The version that loses AWSCURRENT becomes AWSPREVIOUS. */
function attach(versions: SecretVersion[], version: SecretVersion, stage: string): void {
  const holder = holderOf(versions, stage);
  detach(versions, stage);
  version.stages.push(stage);
  if (stage !== CURRENT || holder === undefined) return;
  detach(versions, PREVIOUS);
  holder.stages.push(PREVIOUS);
}

function describe(secret: Secret): JsonObject {
  const labelled = secret.versions.filter(({ stages }) => stages.length > 0);
  return {
    ARN: secret.arn,
    Name: secret.name,
    Description: secret.description,
    CreatedDate: secret.createdDate,
    LastChangedDate: secret.lastChangedDate,
    LastAccessedDate: secret.lastAccessedDate,
    DeletedDate: secret.deletedDate,
    VersionIdsToStages: Object.fromEntries(labelled.map(({ id, stages }) => [id, stages])),
  };
}

const SUFFIX_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SUFFIX_LENGTH = '-xxxxxx'.length;

/** A hyphen and six characters. A secret that is deleted and created again gets another ARN. */
function arnSuffix(): string {
  const characters = Array.from({ length: SUFFIX_LENGTH - 1 }, () =>
    SUFFIX_CHARACTERS.charAt(randomInt(SUFFIX_CHARACTERS.length)),
  );
  return `-${characters.join('')}`;
}

function epochSeconds(): number {
  return Date.now() / 1000;
}

function notFound(message: string): AwsError {
  return new AwsError('ResourceNotFoundException', message);
}

function invalidParameter(message: string): AwsError {
  return new AwsError('InvalidParameterException', message);
}

function invalidRequest(message: string): AwsError {
  return new AwsError('InvalidRequestException', message);
}
