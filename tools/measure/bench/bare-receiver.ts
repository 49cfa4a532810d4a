import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import middy from '@middy/core';

const clients = [new SecretsManagerClient({}), new SQSClient({})];

/** A receiver's packages, and nothing that receives. */
export const handler = middy().handler(async () => clients);
