import { expect, test } from '@jest/globals';
import { startAwsEndpoint } from '../../local/aws/endpoint.ts';
import { deploy } from '../../local/deploy.ts';
import { ACCOUNT_ID, clientSettings, REGION } from '../../local/place.ts';
import type { Template } from '../../local/template/cloud-assembly.ts';
import { Resources } from '../../local/template/resources.ts';

const table = (key: string) => ({
  Type: 'AWS::DynamoDB::Table',
  Properties: {
    KeySchema: [{ AttributeName: key, KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  },
});
const good: Template['Resources'] = {
  Table: table('id'),
  Secret: { Type: 'AWS::SecretsManager::Secret', Properties: {} },
  Queue: { Type: 'AWS::SQS::Queue', Properties: {} },
};

test('what was made before something could not be is told, and need not be made again', async () => {
  const aws = await startAwsEndpoint({ port: 0, region: REGION });
  try {
    const settings = clientSettings(aws.url, 'operator');
    const resourcesOf = (added: ReturnType<typeof table>) => {
      const template = { Resources: { ...good, Added: added }, Outputs: {} };
      const stack = { name: 'Stack', template, assetFolder: () => '' };
      return new Resources(stack, { region: REGION, accountId: ACCOUNT_ID, awsUrl: aws.url, apiUrl: '' });
    };
    const made = new Set<string>();
    const options = { secret: 'secret', existing: made, onMade: (id: string) => made.add(id) };
    await expect(deploy(resourcesOf(table('undefined')), settings, options)).rejects.toThrow();
    expect([...made].sort()).toEqual(['Queue', 'Secret', 'Table']);
    await deploy(resourcesOf(table('id')), settings, options);
    expect([...made].sort()).toEqual(['Added', 'Queue', 'Secret', 'Table']);
  } finally {
    await aws.close();
  }
});
