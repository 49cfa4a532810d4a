import type { RemovalPolicy } from 'aws-cdk-lib';
import type { Alarms } from '../alarms/alarms.ts';
import type { StageConfig } from '../config.ts';
import type { Encryption } from '../encryption.ts';
import type { ProtectedTable } from '../pipeline/protected-storage.ts';
import type { FunctionAccess } from '../pipeline/webhook-function.ts';

export interface EffectProps {
  readonly config: Pick<StageConfig, 'cloudFront' | 'reviewEmails' | 'chat'>;
  readonly removalPolicy: RemovalPolicy;
  readonly encryption: Encryption;
  readonly alarms: Alarms;
}

/** What an effect changes, and the access that its consumer needs for that. */
export interface EffectTarget extends FunctionAccess {
  /** Undefined for a notification. */
  readonly table?: ProtectedTable;
  /** The name of the table or topic, by the name of the stack's output. */
  readonly output: Readonly<Record<string, string>>;
}
