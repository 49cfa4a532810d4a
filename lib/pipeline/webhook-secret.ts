import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type CfnSecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { acknowledge } from '../acknowledge.ts';
import type { StageConfig } from '../config.ts';
import type { StoredProps } from './protected-storage.ts';

interface WebhookSecretProps extends StoredProps {
  readonly config: Pick<StageConfig, 'secretArn' | 'secretKmsKeyArn'>;
}

/** Characters of a generated secret: letters and digits, more than 256 bits. */
const LENGTH = 64;

/** The secret that the partner signs with: an existing one, or a generated one. */
export class WebhookSecret extends Construct {
  readonly arn: string;
  readonly readPermissions: readonly PolicyStatement[];

  constructor(scope: Construct, id: string, props: WebhookSecretProps) {
    super(scope, id);
    const { config, encryption, removalPolicy } = props;
    const { secretArn: arn, secretKmsKeyArn: kmsKeyArn } = config;
    const secret =
      arn === undefined
        ? new Secret(this, 'Secret', {
            description: 'Shared with the partner; signs every delivery (WEBHOOK_SECRET).',
            // Never change these options: any change makes CloudFormation generate a new secret, and every delivery of
            // the partner gets 401. Source: CloudFormation template reference, `AWS::SecretsManager::Secret`,
            // `GenerateSecretString`.
            generateSecretString: { passwordLength: LENGTH, excludePunctuation: true },
            removalPolicy,
          })
        : Secret.fromSecretCompleteArn(this, 'Secret', arn);
    if (secret instanceof Secret && encryption.key) {
      // The key is not set by the construct's property, which would add statements to the key policy that IAM already
      // grants.
      (secret.node.defaultChild as CfnSecret).kmsKeyId = encryption.key.keyArn;
      encryption.awaitGrants(secret);
    }
    acknowledge(
      this,
      'AwsSolutions-SMG4',
      'The partner signs with it: a rotation is agreed with them (docs/secret-rotation.md) and cannot run on a schedule.',
    );
    this.arn = secret.secretArn;
    this.readPermissions = [
      new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [secret.secretArn] }),
      ...(kmsKeyArn === undefined
        ? []
        : [new PolicyStatement({ actions: ['kms:Decrypt'], resources: [kmsKeyArn] })]),
    ];
  }
}
