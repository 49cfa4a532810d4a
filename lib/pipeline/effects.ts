import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  Table,
  TableEncryption,
  type TableProps,
} from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { EffectName } from '../../lambda/events/definition.ts';
import type { Alarms } from '../alarms/alarms.ts';
import { topicLink } from '../alarms/console-links.ts';
import { ChatChannels, subscribeEmails } from '../alarms/subscriptions.ts';
import type { StageConfig } from '../config.ts';
import type { Encryption } from '../encryption.ts';

/** The access that a consumer needs for its effect, or for archiving. */
export interface EffectAccess {
  readonly environment: Readonly<Record<string, string>>;
  readonly permissions: readonly PolicyStatement[];
}

interface EffectsProps {
  readonly config: Pick<StageConfig, 'removalPolicy' | 'cloudFront' | 'reviewEmails' | 'chat'>;
  readonly removalPolicy: RemovalPolicy;
  readonly encryption: Encryption;
  readonly alarms: Alarms;
}

/** Index of the cast by shop. */
const CAST_OF_SHOP = 'shop_id';

/**
 * The targets of all effects: three tables and two topics. The idempotency table remembers the notified events, and for
 * all effects the first receipts of events whose timestamp is too far ahead.
 */
export class Effects extends Construct {
  readonly shopCache: Table;
  readonly cast: Table;
  readonly contactPartner: Table;
  readonly chat: Topic;
  readonly review: Topic;
  /** Every table, with the names of its indexes. */
  readonly tables: readonly { readonly table: Table; readonly indexes?: readonly string[] }[];
  /** Permissions and environment for each effect, by its name in the catalogue. */
  readonly access: Readonly<Record<EffectName, EffectAccess>>;

  constructor(scope: Construct, id: string, props: EffectsProps) {
    super(scope, id);
    const { config, removalPolicy, encryption, alarms } = props;
    const isProtected = config.removalPolicy === 'retain';
    const table = (name: string, key: string, more?: Partial<TableProps>) => {
      const made = new Table(this, name, {
        partitionKey: { name: key, type: AttributeType.STRING },
        billingMode: BillingMode.PAY_PER_REQUEST,
        pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true, recoveryPeriodInDays: 35 },
        deletionProtection: isProtected,
        // A protected table cannot be deleted, not even by the rollback of its own creation.
        removalPolicy: isProtected ? RemovalPolicy.RETAIN : removalPolicy,
        ...(encryption.key && {
          encryption: TableEncryption.CUSTOMER_MANAGED,
          encryptionKey: encryption.key,
        }),
        ...more,
      });
      encryption.awaitGrants(made);
      return made;
    };
    this.shopCache = table('ShopCache', 'shop_id');
    this.cast = table('Cast', 'girl_id', { timeToLiveAttribute: 'expires_at' });
    this.cast.addGlobalSecondaryIndex({
      indexName: CAST_OF_SHOP,
      partitionKey: { name: 'shop_id', type: AttributeType.STRING },
    });
    this.contactPartner = table('ContactPartner', 'user_id');

    const topic = (name: string) => {
      const made = new Topic(this, name, { masterKey: encryption.topicKey, enforceSSL: true });
      encryption.awaitGrants(made);
      return made;
    };
    this.chat = topic('Chat');
    this.review = topic('Review');
    subscribeEmails(this.review, config.reviewEmails);
    new ChatChannels(this, 'ChatChannels', { topic: this.chat, ...config.chat });
    alarms.add(this.chat, 'Effects/Chat/NotDelivered', {
      metricsOf: this.chat,
      links: [topicLink(this.chat)],
    });
    alarms.add(this.review, 'Effects/Review/NotDelivered', {
      metricsOf: this.review,
      links: [topicLink(this.review)],
    });

    const idempotency = table('Idempotency', 'id', { timeToLiveAttribute: 'expiration' });
    this.tables = [
      { table: this.shopCache },
      { table: this.cast, indexes: [CAST_OF_SHOP] },
      { table: this.contactPartner },
      { table: idempotency },
    ];

    const remembering = (...more: readonly string[]): EffectAccess => ({
      environment: { IDEMPOTENCY_TABLE: idempotency.tableName },
      permissions: [
        new PolicyStatement({
          actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem', ...more].sort(),
          resources: [idempotency.tableArn],
        }),
      ],
    });
    const write = (variable: string, to: Table, action: 'dynamodb:PutItem' | 'dynamodb:UpdateItem') =>
      both(remembering(), {
        environment: { [variable]: to.tableName },
        permissions: [new PolicyStatement({ actions: [action], resources: [to.tableArn] })],
      });
    const publish = (variable: string, to: Topic) =>
      both(remembering('dynamodb:DeleteItem', 'dynamodb:PutItem'), {
        environment: { [variable]: to.topicArn },
        permissions: [
          new PolicyStatement({ actions: ['sns:Publish'], resources: [to.topicArn] }),
          ...(encryption.key === undefined
            ? [
                new PolicyStatement({
                  actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
                  resources: [encryption.topicKey.keyArn],
                }),
              ]
            : []),
        ],
      });
    this.access = {
      'shop-cache': both(
        write('SHOP_CACHE_TABLE', this.shopCache, 'dynamodb:UpdateItem'),
        config.cloudFront && this.#invalidate(config.cloudFront),
      ),
      cast: write('CAST_TABLE', this.cast, 'dynamodb:PutItem'),
      'contact-partner': write('CONTACT_PARTNER_TABLE', this.contactPartner, 'dynamodb:UpdateItem'),
      chat: publish('CHAT_TOPIC_ARN', this.chat),
      review: publish('REVIEW_TOPIC_ARN', this.review),
    };
  }

  get outputs(): Record<string, string> {
    return {
      ShopCacheTable: this.shopCache.tableName,
      CastTable: this.cast.tableName,
      ContactPartnerTable: this.contactPartner.tableName,
      ChatTopicArn: this.chat.topicArn,
      ReviewTopicArn: this.review.topicArn,
    };
  }

  #invalidate({ distributionId, paths }: NonNullable<StageConfig['cloudFront']>): EffectAccess {
    return {
      environment: { DISTRIBUTION_ID: distributionId, INVALIDATION_PATHS: JSON.stringify(paths) },
      permissions: [
        new PolicyStatement({
          actions: ['cloudfront:CreateInvalidation'],
          resources: [
            Stack.of(this).formatArn({
              service: 'cloudfront',
              region: '',
              resource: 'distribution',
              resourceName: distributionId,
            }),
          ],
        }),
      ],
    };
  }
}

function both(one: EffectAccess, other: EffectAccess | undefined): EffectAccess {
  return {
    environment: { ...one.environment, ...other?.environment },
    permissions: [...one.permissions, ...(other?.permissions ?? [])],
  };
}
