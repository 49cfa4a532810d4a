import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';

const clients = [new SecretsManagerClient({}), new SQSClient({})];

/** A receiver's packages, and nothing that receives. */
export const handler = async () => clients;
