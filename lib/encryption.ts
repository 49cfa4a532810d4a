import { ArnFormat, Aws, type RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, type Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import { type Construct, DependencyGroup } from 'constructs';
import type { StageConfig } from './config.ts';
import { UnchangingPolicy } from './pipeline/permissions.ts';

/**
 * Services that store our data under the key, and call KMS on behalf of their caller. Sources: DynamoDB developer
 * guide, "DynamoDB encryption at rest usage notes"; Firehose, see `keyPermissions`; S3 user guide, "Using server-side
 * encryption with AWS KMS keys"; Secrets Manager user guide, "Secret encryption and decryption"; SNS developer guide,
 * "Managing Amazon SNS encryption keys and costs"; SQS developer guide, "Configuring AWS KMS permissions".
 */
const USERS_OF_THE_KEY: ReadonlySet<string> = new Set([
  'dynamodb',
  'firehose',
  's3',
  'secretsmanager',
  'sns',
  'sqs',
]);

interface EncryptionProps {
  /** @default AWS' own keys for all but the topics */
  readonly settings: StageConfig['encryption'];
  readonly removalPolicy: RemovalPolicy;
}

/** What a caller of a service does with the key. */
const USE = ['kms:Decrypt', 'kms:GenerateDataKey'];

/**
 * The KMS keys of a stage. With the setting `encryption`, one key is for all personal data, otherwise for the topics.
 */
export class Encryption {
  /** Encrypts everything with personal data; undefined if AWS's own keys do. */
  readonly key: IKey | undefined;
  /** Encrypts the topics: CloudWatch cannot publish to one under the AWS-managed key of SNS. */
  readonly topicKey: IKey;
  /** Encrypts the alarm topic. It is another key than `key`, because people must be notified if `key` is disabled. */
  readonly alarmKey: IKey;
  readonly #stack: Stack;
  readonly #granted = new DependencyGroup();

  constructor(scope: Construct, { settings, removalPolicy }: EncryptionProps) {
    this.#stack = Stack.of(scope);
    const newKey = (id: string, description: string, ...statements: readonly PolicyStatement[]) => {
      const key = new Key(scope, id, { description, enableKeyRotation: true, removalPolicy });
      for (const statement of [alarmsStatement(scope), ...statements]) key.addToResourcePolicy(statement);
      return key;
    };
    if (settings === undefined) {
      this.topicKey = newKey('TopicKey', 'Encrypts the notification and alarm topics.');
      this.alarmKey = this.topicKey;
      return;
    }
    // The logical id is that of the other mode: turning `encryption` off must not delete the key of older data. Alarms
    // use this key until the deployment that turns `encryption` on has changed their topic.
    this.key =
      settings.keyArn === undefined
        ? newKey('TopicKey', 'Encrypts everything that holds personal data.', logsStatement(scope))
        : Key.fromKeyArn(scope, 'TopicKey', settings.keyArn);
    this.topicKey = this.key;
    this.alarmKey = newKey('AlarmKey', 'Encrypts the alarm topic.');
  }

  /** The permissions that a publisher to the topics needs besides those of {@link keyPermissions}. */
  get topicPermissions(): PolicyStatement[] {
    if (this.key !== undefined) return [];
    return [new PolicyStatement({ actions: USE, resources: [this.topicKey.keyArn] })];
  }

  /**
   * The permissions on the key that a role needs for its other permissions; none if `encryption` is not set. A
   * caller of Firehose needs both actions too. AWS does not say whether Firehose sets `kms:ViaService`, so such a role
   * gets them without that condition. Source: AWS's notice "Enhanced security controls for Amazon Data Firehose",
   * quoted in https://github.com/ministryofjustice/modernisation-platform/issues/12960.
   */
  keyPermissions(permissions: readonly PolicyStatement[]): PolicyStatement[] {
    const used = permissions
      .flatMap(({ actions }) => actions.map((action) => action.replace(/:.*/, '')))
      .filter((service) => USERS_OF_THE_KEY.has(service));
    const services = [...new Set(used)].sort();
    if (this.key === undefined || services.length === 0) return [];
    const { region } = this.#stack;
    // A stage without a region is for the partition `aws`.
    const suffix = RegionInfo.get(region).domainSuffix ?? 'amazonaws.com';
    const via = services.map((service) => `${service}.${region}.${suffix}`);
    return [
      new PolicyStatement({
        actions: USE,
        resources: [this.key.keyArn],
        conditions: {
          StringEquals: {
            'kms:CallerAccount': Aws.ACCOUNT_ID,
            ...(!services.includes('firehose') && { 'kms:ViaService': via }),
          },
        },
      }),
    ];
  }

  /**
   * Lets a role use the key, in a policy of its own. The role's other policy names the queues and tables, so
   * CloudFormation updates it after them, and deliveries would be rejected until then.
   */
  grant(role: Role, permissions: readonly PolicyStatement[]): void {
    const statements = this.keyPermissions(permissions);
    if (statements.length === 0) return;
    this.#granted.add(new UnchangingPolicy(role, 'KeyPolicy', statements));
  }

  /**
   * Encrypts a resource under the key only after every role has its permissions. By then the key policy is effective
   * too. Before that, CloudWatch Logs rejects the key.
   */
  awaitGrants(resource: Construct): void {
    if (this.key) (resource.node.defaultChild ?? resource).node.addDependency(this.#granted);
  }
}

/**
 * Lets CloudWatch publish alarms to a topic under the key. Source: SNS developer guide, "Managing Amazon SNS encryption
 * keys and costs", on event sources from AWS services and encrypted topics.
 */
function alarmsStatement(scope: Construct): PolicyStatement {
  return new PolicyStatement({
    principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
    actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
    resources: ['*'],
    conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
  });
}

/**
 * Lets CloudWatch Logs store the logs of this stack under the key. Source: CloudWatch Logs user guide, "Encrypt log
 * data in CloudWatch Logs using AWS Key Management Service".
 */
function logsStatement(scope: Construct): PolicyStatement {
  return new PolicyStatement({
    principals: [new ServicePrincipal(`logs.${Stack.of(scope).region}.amazonaws.com`)],
    // AWS's example also allows `kms:DescribeKey`. That action has no encryption context, so the condition would never
    // allow it.
    actions: ['kms:Encrypt', 'kms:Decrypt', 'kms:ReEncrypt*', 'kms:GenerateDataKey*'],
    resources: ['*'],
    conditions: {
      ArnLike: {
        'kms:EncryptionContext:aws:logs:arn': [
          logsOfStack(scope),
          // The API's access log, which has another prefix.
          logsOfStack(scope, '/aws/vendedlogs/'),
          // The log of AWS WAF, which has another prefix.
          logsOfStack(scope, 'aws-waf-logs-'),
        ],
      },
    },
  });
}

/** CloudFormation's generated names begin with the stack's name. The name itself would be a circular reference. */
function logsOfStack(scope: Construct, prefix = ''): string {
  const stack = Stack.of(scope);
  return stack.formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: `${prefix}${stack.stackName}-*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}
