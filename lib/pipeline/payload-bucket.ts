import { Duration, type RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { CfnBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct, IConstruct } from 'constructs';
import { LAST_DAY_ON_QUEUES, MIN_PAYLOAD_DAYS } from '../../lambda/limits.ts';
import { acknowledge } from '../acknowledge.ts';
import type { Encryption } from '../encryption.ts';
import { ProtectedBucket } from './protected-storage.ts';

interface PayloadBucketProps {
  readonly encryption: Encryption;
  readonly removalPolicy: RemovalPolicy;
  /** Days that the archive keeps a record, which may refer to a payload. */
  readonly archiveDays: number;
}

/** Payloads that are too large for a message (decision D13), by event: `shop.updated/<eventId>`. */
export class PayloadBucket extends ProtectedBucket {
  constructor(scope: Construct, id: string, { encryption, removalPolicy, archiveDays }: PayloadBucketProps) {
    super(scope, id, {
      encryption,
      removalPolicy,
      // Each redrive gives a message up to 14 more days on a queue, but no more days to its payload.
      lifecycleRule: {
        expiration: Duration.days(Math.max(MIN_PAYLOAD_DAYS, archiveDays + LAST_DAY_ON_QUEUES)),
      },
    });
    acknowledge(
      this,
      'AwsSolutions-S1',
      'Only the functions of this stack reach it; an access log would need a second bucket that nobody reads. CloudTrail data events can audit it.',
    );
  }

  putPermission(): PolicyStatement {
    return new PolicyStatement({ actions: ['s3:PutObject'], resources: [this.arnForObjects('*')] });
  }

  /** Acknowledges the wildcard in a role's permissions. */
  acknowledgeWildcard(scope: IConstruct, keys: string): void {
    const logicalId = Stack.of(this).getLogicalId(this.node.defaultChild as CfnBucket);
    acknowledge(
      scope,
      `AwsSolutions-IAM5[Resource::<${logicalId}.Arn>/${keys}]`,
      'The keys of payloads end in the ids of events, which are not known before they come.',
    );
  }

  /** Permission to read the payloads of one event. */
  getPermission(event: string): PolicyStatement {
    return new PolicyStatement({ actions: ['s3:GetObject'], resources: [this.arnForObjects(`${event}/*`)] });
  }
}
