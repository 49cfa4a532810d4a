import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table, type TableProps } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { EffectName } from '../lambda/contract/catalogue.ts';

/** What a consumer gets for its effect: where it is, and leave to do it. */
export interface EffectAccess {
  readonly environment: Readonly<Record<string, string>>;
  readonly permissions: readonly PolicyStatement[];
}

export interface EffectsProps {
  readonly removalPolicy: RemovalPolicy;
  /** Encrypts the topics. */
  readonly topicKey: IKey;
}

/**
 * Everything that events have an effect on: three tables and two topics (design §6), and the table that
 * keeps a notification from being sent twice.
 */
export class Effects extends Construct {
  readonly shopCache: Table;
  readonly cast: Table;
  readonly contactPartner: Table;
  readonly chat: Topic;
  readonly review: Topic;
  readonly idempotency: Table;
  /** By the effect that the catalogue names. */
  readonly access: Readonly<Record<EffectName, EffectAccess>>;

  constructor(scope: Construct, id: string, { removalPolicy, topicKey }: EffectsProps) {
    super(scope, id);
    const table = (name: string, key: string, props?: Partial<TableProps>) =>
      new Table(this, name, {
        partitionKey: { name: key, type: AttributeType.STRING },
        billingMode: BillingMode.PAY_PER_REQUEST,
        pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
        deletionProtection: removalPolicy === RemovalPolicy.RETAIN,
        removalPolicy,
        ...props,
      });
    this.shopCache = table('ShopCache', 'shop_id');
    this.cast = table('Cast', 'girl_id', { timeToLiveAttribute: 'expires_at' });
    this.cast.addGlobalSecondaryIndex({
      indexName: 'shop_id',
      partitionKey: { name: 'shop_id', type: AttributeType.STRING },
    });
    this.contactPartner = table('ContactPartner', 'user_id');

    const topic = (name: string) => new Topic(this, name, { masterKey: topicKey, enforceSSL: true });
    this.chat = topic('Chat');
    this.review = topic('Review');

    this.idempotency = table('Idempotency', 'id', { timeToLiveAttribute: 'expiration' });

    const write = (variable: string, to: Table, action: 'dynamodb:PutItem' | 'dynamodb:UpdateItem') => ({
      environment: { [variable]: to.tableName },
      permissions: [new PolicyStatement({ actions: [action], resources: [to.tableArn] })],
    });
    const publish = (variable: string, to: Topic) => ({
      environment: { [variable]: to.topicArn, IDEMPOTENCY_TABLE: this.idempotency.tableName },
      permissions: [
        new PolicyStatement({
          actions: ['dynamodb:DeleteItem', 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
          resources: [this.idempotency.tableArn],
        }),
        new PolicyStatement({ actions: ['sns:Publish'], resources: [to.topicArn] }),
        new PolicyStatement({
          actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
          resources: [topicKey.keyArn],
        }),
      ],
    });
    this.access = {
      'shop-cache': write('SHOP_CACHE_TABLE', this.shopCache, 'dynamodb:UpdateItem'),
      cast: write('CAST_TABLE', this.cast, 'dynamodb:PutItem'),
      'contact-partner': write('CONTACT_PARTNER_TABLE', this.contactPartner, 'dynamodb:UpdateItem'),
      chat: publish('CHAT_TOPIC_ARN', this.chat),
      review: publish('REVIEW_TOPIC_ARN', this.review),
    };
  }
}
