import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import middy from '@middy/core';

const clients = [new SecretsManagerClient({}), new SQSClient({})];

/** Loads the receiver's packages, and does nothing else. */
export const handler = middy().handler(async () => clients);
