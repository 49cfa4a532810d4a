import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { GetTopicAttributesCommand, SNSClient } from '@aws-sdk/client-sns';
import { failure, ok, type StageCheck, skipped, warning } from './inspection.ts';

export const keyChecks: readonly StageCheck[] = [
  {
    name: 'keys',
    needs: ['kms:DescribeKey', 'kms:GetKeyPolicy', 'sns:GetTopicAttributes'],
    why: 'What it encrypts cannot be used: alarms and notifications are not sent, or no data can be read.',
    async run(inspection) {
      const topic = new GetTopicAttributesCommand({ TopicArn: inspection.stage.output('AlarmTopicArn') });
      const { Attributes } = await inspection.stage.client(SNSClient).send(topic);
      const own = (await inspection.resources('AWS::KMS::Key')).map(({ physicalId }) => physicalId);
      const ofTopic = Attributes?.KmsMasterKeyId ?? '';
      const isKnown = ofTopic === '' || own.some((id) => ofTopic.endsWith(id));
      const ids = [...own, ...(isKnown ? [] : [ofTopic])];
      if (ids.length === 0) return skipped('no key');
      const { KMSClient, DescribeKeyCommand, GetKeyPolicyCommand } = await import('@aws-sdk/client-kms');
      const kms = inspection.stage.client(KMSClient);
      const results = ids.map(async (KeyId) => {
        const { KeyMetadata } = await kms.send(new DescribeKeyCommand({ KeyId }));
        const { KeyState, DeletionDate, Description } = KeyMetadata ?? {};
        const isOfTopic = ofTopic.endsWith(KeyId);
        const seen = `${KeyState}: ${KeyId}${isOfTopic ? ', of the alarm topic' : ''} (${Description})`;
        if (KeyState !== 'Enabled') {
          const cancel = DeletionDate ? `aws kms cancel-key-deletion --key-id ${KeyId} && ` : '';
          const when = DeletionDate ? `, deleted on ${DeletionDate.toISOString()}` : '';
          return failure(`${seen}${when}`, { fix: `${cancel}aws kms enable-key --key-id ${KeyId}` });
        }
        if (!isOfTopic) return ok(seen);
        const { Policy } = await kms.send(new GetKeyPolicyCommand({ KeyId }));
        if (Policy?.includes('cloudwatch.amazonaws.com')) return ok(seen);
        const fix = `aws kms get-key-policy --key-id ${KeyId} --output text`;
        return failure(`${seen}: its policy does not allow cloudwatch.amazonaws.com`, { fix });
      });
      return Promise.all(results);
    },
  },
  {
    name: 'trust store',
    needs: ['apigateway:GET', 's3:GetObject'],
    why: 'Callers with a certificate from a new authority are rejected. Set domain.mutualTls.version, then deploy.',
    fix: ({ stageName }) => `npx cdk deploy -c stage=${stageName}`,
    async run(inspection) {
      const domains = await inspection.resources('AWS::ApiGatewayV2::DomainName');
      const [domain] = domains.map(({ properties }) => properties);
      if (domain?.MutualTlsAuthentication === undefined) return skipped('no client certificates (mutualTls)');
      const { ApiGatewayV2Client, GetDomainNameCommand } = await import('@aws-sdk/client-apigatewayv2');
      const { DomainName } = domain;
      const {
        MutualTlsAuthentication: { TruststoreUri = '', TruststoreVersion, TruststoreWarnings = [] } = {},
      } = await inspection.stage.client(ApiGatewayV2Client).send(new GetDomainNameCommand({ DomainName }));
      if (TruststoreWarnings.length > 0) return warning(TruststoreWarnings.join('; '));
      const [, Bucket, Key] = /^s3:\/\/([^/]+)\/(.+)$/.exec(TruststoreUri) ?? [];
      const { VersionId } = await inspection.stage.s3.send(new HeadObjectCommand({ Bucket, Key }));
      if (VersionId === TruststoreVersion) return ok(`the newest version, ${VersionId}`);
      return warning(`version ${TruststoreVersion} is used, but ${VersionId} is the newest`);
    },
  },
  {
    name: 'REST access log',
    needs: ['apigateway:GET'],
    why: 'Nothing writes it, so the alarms for throttled, blocked and failed requests cannot fire.',
    fix: () => 'docs/deploying.md, "Which gateway"',
    async run(inspection) {
      const apis = await inspection.resources('AWS::ApiGateway::RestApi');
      if (apis.length === 0) return skipped('an HTTP API needs no role for it');
      const { APIGatewayClient, GetAccountCommand } = await import('@aws-sdk/client-api-gateway');
      const account = await inspection.stage.client(APIGatewayClient).send(new GetAccountCommand({}));
      return account.cloudwatchRoleArn
        ? ok('the account has a role for it')
        : failure('the account has no role for it');
    },
  },
];
