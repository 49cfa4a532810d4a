import { CloudFormationClient, ListStacksCommand } from '@aws-sdk/client-cloudformation';
import { CloudFrontClient, ListDistributionsCommand } from '@aws-sdk/client-cloudfront';
import { GetFunctionCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../../local/aws/endpoint.ts';
import { send, signedFor, startEndpoint } from './support.ts';

let endpoint: AwsEndpoint;
beforeAll(async () => {
  endpoint = await startEndpoint();
});
afterAll(() => endpoint.close());

const refusal = (service: string) => ({
  name: 'UnsupportedService',
  message: `The local AWS endpoint does not offer ${service}, only sqs, sns, s3, dynamodb, secretsmanager, logs, firehose, monitoring, lambda, sts.`,
});

const disposable = <Client extends { destroy(): void }>(client: Client) =>
  Object.assign(client, { [Symbol.dispose]: () => client.destroy() });

describe('a service that the endpoint lacks is refused in the form that its client reads', () => {
  const settings = () => ({
    endpoint: endpoint.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  });

  test('REST-JSON: Lambda', async () => {
    using client = disposable(new LambdaClient(settings()));
    await expect(client.send(new GetFunctionCommand({ FunctionName: 'x' }))).rejects.toMatchObject({
      name: 'UnknownOperationException',
      message: expect.stringMatching(/^The local AWS endpoint offers of Lambda .*, not GET .*functions\/x/),
    });
  });

  test('REST-XML: CloudFront', async () => {
    using client = disposable(new CloudFrontClient(settings()));
    await expect(client.send(new ListDistributionsCommand({}))).rejects.toMatchObject(refusal('cloudfront'));
  });

  test('query: CloudFormation', async () => {
    using client = disposable(new CloudFormationClient(settings()));
    await expect(client.send(new ListStacksCommand({}))).rejects.toMatchObject(refusal('cloudformation'));
  });

  test.each([
    ['apigatewayv2', 'GET', '/v2/apis'],
    ['xray', 'POST', '/TraceSegments'],
  ])('REST-JSON: %s', async (service, method, path) => {
    const headers = { authorization: signedFor(service), 'content-type': 'application/json' };
    const answer = await send(endpoint, { method, path, headers, ...(method === 'POST' && { body: '{}' }) });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'x-amzn-errortype': 'UnsupportedService',
    });
    expect(JSON.parse(answer.body.toString())).toEqual({ message: refusal(service).message });
  });

  test('JSON: any with X-Amz-Target', async () => {
    const headers = { authorization: signedFor('kinesis'), 'x-amz-target': 'Kinesis_20131202.ListStreams' };
    const { body } = await send(endpoint, { headers, body: '{}' });
    expect(JSON.parse(body.toString())).toMatchObject({ __type: 'UnsupportedService' });
  });
});
