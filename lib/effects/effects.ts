import { Construct } from 'constructs';
import { catalogue, type EventName, isNotification } from '../../lambda/events/catalogue.ts';
import type { EffectName } from '../../lambda/events/definition.ts';
import type { Alarms } from '../alarms/alarms.ts';
import type { StageConfig } from '../config.ts';
import { ProtectedTable, type StoredProps } from '../pipeline/protected-storage.ts';
import type { FunctionAccess } from '../pipeline/webhook-function.ts';
import { cast } from './cast.ts';
import { chat } from './chat.ts';
import { contactPartner } from './contact-partner.ts';
import { review } from './review.ts';
import { shopCache } from './shop-cache.ts';

interface EffectsProps extends StoredProps {
  readonly config: Pick<StageConfig, 'cloudFront' | 'reviewEmails' | 'chat'>;
  readonly alarms: Alarms;
}

/** What an effect changes, and the access that its consumer needs for that. */
interface EffectTarget extends FunctionAccess {
  /** The name of the table or topic, by the name of the stack's output. */
  readonly output: Readonly<Record<string, string>>;
}

/** The targets of all effects: three tables and two topics. */
export class Effects extends Construct {
  readonly outputs: Readonly<Record<string, string>>;
  readonly #effects: Readonly<Record<EffectName, EffectTarget>>;
  /** Which events were notified, and when an event with a timestamp too far ahead was first received. */
  readonly #memory: ProtectedTable;

  constructor(scope: Construct, id: string, props: EffectsProps) {
    super(scope, id);
    this.#effects = {
      'shop-cache': shopCache(this, props, props.config.cloudFront),
      cast: cast(this, props),
      'contact-partner': contactPartner(this, props),
      chat: chat(this, props),
      review: review(this, props),
    };
    this.#memory = new ProtectedTable(this, 'Idempotency', { ...props, key: 'id', expiry: 'expiration' });
    this.outputs = Object.assign({}, ...Object.values(this.#effects).map(({ output }) => output));
  }

  access(event: EventName): FunctionAccess {
    const { environment, permissions } = this.#effects[catalogue[event].effect];
    // A notification is remembered before it is sent, and forgotten if that fails.
    const remember = isNotification(event)
      ? ['dynamodb:DeleteItem', 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem']
      : ['dynamodb:GetItem', 'dynamodb:UpdateItem'];
    return {
      environment: { IDEMPOTENCY_TABLE: this.#memory.tableName, ...environment },
      permissions: [this.#memory.permission(...remember), ...permissions],
    };
  }
}
