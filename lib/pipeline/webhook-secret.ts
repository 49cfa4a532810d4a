import type { RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type CfnSecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { acknowledge } from '../acknowledge.ts';
import type { Encryption } from '../encryption.ts';

export interface WebhookSecretProps {
  /**
   * Complete ARN of an existing secret.
   * @default one is generated
   */
  readonly arn?: string | undefined;
  /**
   * Key that the existing secret is encrypted under.
   * @default Secrets Manager's own, which needs no permission
   */
  readonly kmsKeyArn?: string | undefined;
  /**
   * Secret that the deployed version reads. While a canary deployment moves traffic to a version that reads another one,
   * both versions verify deliveries, under one role.
   * @default none
   */
  readonly previousArn?: string | undefined;
  readonly removalPolicy: RemovalPolicy;
}

/** Characters of a generated secret: letters and digits, more than 256 bits. */
const LENGTH = 64;

/** The secret that the partner signs with: an existing one, or one that is generated here and handed to them. */
export class WebhookSecret extends Construct {
  readonly arn: string;
  /** Permissions to read it. */
  readonly readPermissions: readonly PolicyStatement[];
  /** Undefined if it existed already, under a key of its own. */
  readonly #generated: Secret | undefined;

  constructor(scope: Construct, id: string, props: WebhookSecretProps) {
    super(scope, id);
    const { arn, kmsKeyArn, previousArn, removalPolicy } = props;
    const secret =
      arn === undefined
        ? new Secret(this, 'Secret', {
            description: 'Shared with the partner; signs every delivery (WEBHOOK_SECRET).',
            generateSecretString: { passwordLength: LENGTH, excludePunctuation: true },
            removalPolicy,
          })
        : Secret.fromSecretCompleteArn(this, 'Secret', arn);
    this.#generated = secret instanceof Secret ? secret : undefined;
    acknowledge(
      this,
      'AwsSolutions-SMG4',
      'The partner signs with it: a rotation is agreed with them (docs/secret-rotation.md) and cannot run on a schedule.',
    );
    this.arn = secret.secretArn;
    this.readPermissions = [
      new PolicyStatement({
        actions: ['secretsmanager:GetSecretValue'],
        resources: [secret.secretArn, ...(previousArn === undefined ? [] : [previousArn])],
      }),
      ...(kmsKeyArn === undefined
        ? []
        : [new PolicyStatement({ actions: ['kms:Decrypt'], resources: [kmsKeyArn] })]),
    ];
  }

  /** Encrypts a generated secret under the key for everything, if there is one. */
  keepUnder(encryption: Encryption): void {
    if (this.#generated === undefined || encryption.key === undefined) return;
    // As a property of the construct it would add to the key's policy what IAM grants already.
    (this.#generated.node.defaultChild as CfnSecret).kmsKeyId = encryption.key.keyArn;
    encryption.awaitGrants(this.#generated);
  }
}
