import { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { LAST_DAY_ON_QUEUES, MIN_PAYLOAD_DAYS } from '../../lambda/limits.ts';
import { ProtectedBucket, type StoredProps } from './protected-storage.ts';

interface PayloadBucketProps extends StoredProps {
  /** Days that the archive keeps a record, which may refer to a payload. */
  readonly archiveDays: number;
}

/** Payloads that are too large for a message (decision D13), by event: `shop.updated/<eventId>`. */
export class PayloadBucket extends ProtectedBucket {
  constructor(scope: Construct, id: string, { archiveDays, ...stored }: PayloadBucketProps) {
    super(scope, id, {
      ...stored,
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
