import type { RemovalPolicy } from 'aws-cdk-lib';
import {
  LogGroup,
  type MetricFilter,
  type MetricFilterOptions,
  type RetentionDays,
} from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Encryption } from '../encryption.ts';

export interface ProtectedLogProps {
  /** @default CloudFormation makes one */
  readonly logGroupName?: string;
  readonly encryption: Encryption;
  readonly retention: RetentionDays;
  readonly removalPolicy: RemovalPolicy;
}

/** A log group, encrypted under the key for everything if there is one. */
export class ProtectedLog extends LogGroup {
  #lastFilter: MetricFilter | undefined;

  constructor(scope: Construct, id: string, { encryption, ...props }: ProtectedLogProps) {
    super(scope, id, { ...props, ...(encryption.key && { encryptionKey: encryption.key }) });
    encryption.awaitGrants(this);
  }

  /**
   * Filters of one log are created one after another: CloudWatch Logs refuses changes that come at once with
   * `OperationAborted`. Source: CloudWatch Logs API reference, `PutMetricFilter`.
   */
  override addMetricFilter(id: string, props: MetricFilterOptions): MetricFilter {
    const filter = super.addMetricFilter(id, props);
    if (this.#lastFilter !== undefined) filter.node.addDependency(this.#lastFilter);
    this.#lastFilter = filter;
    return filter;
  }
}
