import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { LAST_DAY_ON_QUEUES, MIN_PAYLOAD_DAYS } from '../../lambda/limits.ts';
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
  }

  putPermission(): PolicyStatement {
    return new PolicyStatement({ actions: ['s3:PutObject'], resources: [this.arnForObjects('*')] });
  }

  /** Permission to read the payloads of one event. */
  getPermission(event: string): PolicyStatement {
    return new PolicyStatement({ actions: ['s3:GetObject'], resources: [this.arnForObjects(`${event}/*`)] });
  }
}
