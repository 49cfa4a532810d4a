import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { GetTopicAttributesCommand, SNSClient } from '@aws-sdk/client-sns';
import { alarmTable } from '../../../lib/alarms/alarm-table.ts';
import {
  failure,
  type Inspection,
  ok,
  type StageCheck,
  since,
  skipped,
  tally,
  warning,
} from './inspection.ts';

/** Days before expiry from which a certificate is a failure: ACM would have renewed its own certificate long before. */
const { threshold: MIN_DAYS } = alarmTable.CertificateExpires.fires;

const DAY = 24 * 60 * 60 * 1000;

const domains = (inspection: Inspection) => inspection.resources('AWS::ApiGatewayV2::DomainName');

export const keyChecks: readonly StageCheck[] = [
  {
    name: 'keys',
    needs: ['kms:DescribeKey', 'kms:GetKeyPolicy', 'sns:GetTopicAttributes'],
    why: 'What it encrypts cannot be used: alarms and notifications are not sent, or no data can be read.',
    async run(inspection) {
      const TopicArn = inspection.stage.output('AlarmTopicArn');
      const { Attributes } = await inspection
        .client(SNSClient)
        .send(new GetTopicAttributesCommand({ TopicArn }));
      const own = (await inspection.resources('AWS::KMS::Key')).map(({ physicalId }) => physicalId);
      const ofTopic = Attributes?.KmsMasterKeyId ?? '';
      const isKnown = ofTopic === '' || own.some((id) => ofTopic.endsWith(id));
      const ids = [...own, ...(isKnown ? [] : [ofTopic])];
      if (ids.length === 0) return skipped('no key');
      const { KMSClient, DescribeKeyCommand, GetKeyPolicyCommand } = await import('@aws-sdk/client-kms');
      const kms = inspection.client(KMSClient);
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
    name: 'grants',
    needs: ['kms:ListGrants'],
    why: 'DynamoDB uses the key by a grant. Without it, the tables cannot be read.',
    async run(inspection) {
      const tables = await inspection.resources('AWS::DynamoDB::Table');
      const [key] = tables.flatMap(({ properties }) => properties.SSESpecification?.KMSMasterKeyId ?? []);
      if (key === undefined) return skipped('no key of its own (encryption)');
      const keys = await inspection.resources('AWS::KMS::Key');
      const own = keys.find(({ logicalId }) => logicalId === key['Fn::GetAtt']?.[0]);
      const { KMSClient, ListGrantsCommand } = await import('@aws-sdk/client-kms');
      const KeyId = own?.physicalId ?? key;
      const { Grants = [] } = await inspection.client(KMSClient).send(new ListGrantsCommand({ KeyId }));
      if (Grants.some(({ GranteePrincipal = '' }) => GranteePrincipal.startsWith('dynamodb')))
        return ok(`${Grants.length}, with DynamoDB’s`);
      const fix = `aws kms list-grants --key-id ${KeyId}`;
      return warning(`${Grants.length}, without DynamoDB’s`, { fix });
    },
  },
  {
    name: 'certificates',
    needs: ['acm:DescribeCertificate'],
    why: 'After its expiry every delivery fails. See "Certificate" in docs/operations.md.',
    async run(inspection) {
      const text = JSON.stringify((await domains(inspection)).map(({ properties }) => properties));
      const arns = [...new Set(text.match(/arn:[\w-]+:acm:[^"]+/g))];
      if (arns.length === 0) return skipped('no domain');
      const { ACMClient, DescribeCertificateCommand } = await import('@aws-sdk/client-acm');
      const results = arns.map(async (CertificateArn) => {
        const query = new DescribeCertificateCommand({ CertificateArn });
        const { Certificate } = await inspection.client(ACMClient).send(query);
        const days = Math.floor(-since(Certificate?.NotAfter) / DAY);
        const seen = `${Certificate?.DomainName}: ${Certificate?.Status}, ${days} days left`;
        if (Certificate?.Status === 'ISSUED' && days > MIN_DAYS) return ok(seen);
        return failure(seen, { fix: `aws acm describe-certificate --certificate-arn ${CertificateArn}` });
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
      const [domain] = (await domains(inspection)).map(({ properties }) => properties);
      if (domain?.MutualTlsAuthentication === undefined) return skipped('no client certificates (mutualTls)');
      const { ApiGatewayV2Client, GetDomainNameCommand } = await import('@aws-sdk/client-apigatewayv2');
      const { DomainName } = domain;
      const {
        MutualTlsAuthentication: { TruststoreUri = '', TruststoreVersion, TruststoreWarnings = [] } = {},
      } = await inspection.client(ApiGatewayV2Client).send(new GetDomainNameCommand({ DomainName }));
      if (TruststoreWarnings.length > 0) return warning(TruststoreWarnings.join('; '));
      const [, Bucket, Key] = /^s3:\/\/([^/]+)\/(.+)$/.exec(TruststoreUri) ?? [];
      const { VersionId } = await inspection.stage.s3.send(new HeadObjectCommand({ Bucket, Key }));
      if (VersionId === TruststoreVersion) return ok(`the newest version, ${VersionId}`);
      return warning(`version ${TruststoreVersion} is used, but ${VersionId} is the newest`);
    },
  },
  {
    name: 'AWS WAF, last day',
    needs: ['logs:FilterLogEvents'],
    why: 'It is probably the partner. If a list blocks it, all repeats are blocked. See "Blocked" in docs/operations.md.',
    fix: ({ stage }) => `aws logs tail ${stage.output('ApiAccessLogGroup')} --since 1d`,
    async run(inspection) {
      const log = await inspection.logGroup('ApiFirewallLog');
      if (log === undefined) return skipped('no AWS WAF (waf)');
      const accessLog = inspection.stage.output('ApiAccessLogGroup');
      const [blocks, accepted] = await Promise.all([
        inspection.logLines(log, '', 24),
        inspection.logLines(accessLog, '{ $.status = "200" }', 24),
      ]);
      const known = new Set(accepted.map(({ sourceIp }) => sourceIp));
      const ofPartner = blocks.filter(({ httpRequest }) => known.has(Object(httpRequest).clientIp));
      if (ofPartner.length === 0)
        return ok(`blocked ${blocks.length} requests, none from an address that got 200`);
      const rules = tally(ofPartner.map(({ terminatingRuleId }) => String(terminatingRuleId)));
      return failure(`blocked an address that also got 200: ${rules}`, {
        fix: `aws logs tail ${log} --since 1d`,
      });
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
      const account = await inspection.client(APIGatewayClient).send(new GetAccountCommand({}));
      return account.cloudwatchRoleArn
        ? ok('the account has a role for it')
        : failure('the account has no role for it');
    },
  },
];
