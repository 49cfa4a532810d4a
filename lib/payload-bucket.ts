import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';

/**
 * As long as notifications and deletions are remembered. Each stay on a queue is 14 days at most, and each
 * redrive begins another: whoever redrives for longer exports the payloads first.
 */
const EXPIRATION = Duration.days(90);

/** Payloads that are too large for a message (design D13), by event: `shop.updated/<eventId>`. */
export class PayloadBucket extends Bucket {
  constructor(scope: Construct, id: string, { removalPolicy }: { removalPolicy: RemovalPolicy }) {
    super(scope, id, {
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      lifecycleRules: [{ expiration: EXPIRATION, abortIncompleteMultipartUploadAfter: Duration.days(1) }],
      removalPolicy,
    });
  }

  /** Leave to store payloads. */
  putPermission(): PolicyStatement {
    return new PolicyStatement({ actions: ['s3:PutObject'], resources: [this.arnForObjects('*')] });
  }

  /** Leave to read the payloads of one event. */
  getPermission(event: string): PolicyStatement {
    return new PolicyStatement({ actions: ['s3:GetObject'], resources: [this.arnForObjects(`${event}/*`)] });
  }
}
