import type { RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';

export interface TopicKeyProps {
  /**
   * Existing key to take. Its policy must let cloudwatch.amazonaws.com decrypt and generate data keys.
   * @default one is made
   */
  readonly arn?: string | undefined;
  readonly removalPolicy: RemovalPolicy;
}

/** The key that encrypts the topics: CloudWatch cannot publish to one under the AWS-managed key of SNS. */
export function topicKey(scope: Construct, id: string, { arn, removalPolicy }: TopicKeyProps): IKey {
  if (arn !== undefined) return Key.fromKeyArn(scope, id, arn);
  const key = new Key(scope, id, {
    description: 'Encrypts the notification and alarm topics.',
    enableKeyRotation: true,
    removalPolicy,
  });
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      resources: ['*'],
    }),
  );
  return key;
}
