import { randomUUID } from 'node:crypto';
import { AwsError } from '../errors.ts';
import { type JsonObject, textOf } from '../json.ts';

export const CURRENT = 'AWSCURRENT';
const PREVIOUS = 'AWSPREVIOUS';

/** Staging labels of a version. Source: Secrets Manager user guide, "Secrets Manager quotas". */
const MAX_STAGES = 20;

export interface SecretVersion {
  readonly id: string;
  readonly secretString: string | undefined;
  /** Base64, as in the API. */
  readonly secretBinary: string | undefined;
  stages: string[];
  /** Epoch seconds, with fractions. */
  readonly createdDate: number;
}

/**
 * Adds a version to a secret. A repeated call with the same token and value finds the version of the first
 * call.
 */
export function addVersion(
  versions: SecretVersion[],
  parameters: JsonObject,
  stages: string[],
): SecretVersion {
  const secretString = textOf(parameters, 'SecretString');
  const secretBinary = textOf(parameters, 'SecretBinary');
  if ((secretString === undefined) === (secretBinary === undefined)) {
    throw invalidParameter('You must provide either SecretString or SecretBinary, and not both.');
  }
  const id = textOf(parameters, 'ClientRequestToken') ?? randomUUID();
  const earlier = versions.find((version) => version.id === id);
  if (earlier !== undefined) {
    if (earlier.secretString !== secretString || earlier.secretBinary !== secretBinary) {
      throw new AwsError(
        'ResourceExistsException',
        "You can't use ClientRequestToken because that value is already in use for a version of this secret.",
      );
    }
    return earlier;
  }
  const version: SecretVersion = { id, secretString, secretBinary, stages: [], createdDate: epochSeconds() };
  versions.push(version);
  for (const stage of stages) attach(versions, version, stage);
  return version;
}

/** @param parameters of GetSecretValue */
export function requestedVersion(versions: SecretVersion[], parameters: JsonObject): SecretVersion {
  const id = textOf(parameters, 'VersionId');
  const stage = textOf(parameters, 'VersionStage');
  if (id === undefined) {
    const label = stage ?? CURRENT;
    const version = holderOf(versions, label);
    if (version !== undefined) return version;
    throw notFound(`Secrets Manager can't find the specified secret value for staging label: ${label}`);
  }
  const version = versionWithId(versions, id);
  if (stage === undefined || version.stages.includes(stage)) return version;
  throw invalidRequest('You provided a VersionStage that is not associated to the provided VersionId.');
}

export function versionWithId(versions: SecretVersion[], id: string): SecretVersion {
  const version = versions.find((candidate) => candidate.id === id);
  if (version !== undefined) return version;
  throw notFound(`Secrets Manager can't find the specified secret value for VersionId: ${id}`);
}

export function holderOf(versions: SecretVersion[], stage: string): SecretVersion | undefined {
  return versions.find(({ stages }) => stages.includes(stage));
}

export function detach(versions: SecretVersion[], stage: string): void {
  for (const version of versions) version.stages = version.stages.filter((label) => label !== stage);
}

/** Moves a staging label to a version. The version that loses AWSCURRENT becomes AWSPREVIOUS. */
export function attach(versions: SecretVersion[], version: SecretVersion, stage: string): void {
  const holder = holderOf(versions, stage);
  if (holder === version) return;
  if (version.stages.length === MAX_STAGES) {
    throw new AwsError(
      'LimitExceededException',
      `A version of a secret may have at most ${MAX_STAGES} staging labels.`,
    );
  }
  detach(versions, stage);
  version.stages.push(stage);
  if (stage !== CURRENT || holder === undefined) return;
  detach(versions, PREVIOUS);
  holder.stages.push(PREVIOUS);
}

export function epochSeconds(): number {
  return Date.now() / 1000;
}

export function notFound(message: string): AwsError {
  return new AwsError('ResourceNotFoundException', message);
}

export function invalidParameter(message: string): AwsError {
  return new AwsError('InvalidParameterException', message);
}

export function invalidRequest(message: string): AwsError {
  return new AwsError('InvalidRequestException', message);
}
