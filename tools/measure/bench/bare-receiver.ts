import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';

const clients = [new SecretsManagerClient({}), new SQSClient({})];

/** Loads the receiver's packages, and receives nothing. */
export const handler = async () => clients;
