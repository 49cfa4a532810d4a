import { Construct } from 'constructs';
import type { EffectName } from '../../lambda/events/definition.ts';
import { ProtectedTable } from '../pipeline/protected-storage.ts';
import type { FunctionAccess } from '../pipeline/webhook-function.ts';
import { cast } from './cast.ts';
import { chat } from './chat.ts';
import { contactPartner } from './contact-partner.ts';
import type { EffectProps, EffectTarget } from './effect-target.ts';
import { review } from './review.ts';
import { shopCache } from './shop-cache.ts';

/** The targets of all effects: three tables and two topics. */
export class Effects extends Construct {
  readonly outputs: Readonly<Record<string, string>>;
  readonly #effects: Readonly<Record<EffectName, EffectTarget>>;
  /** Which events were notified, and when an event with a timestamp too far ahead was first received. */
  readonly #memory: ProtectedTable;

  constructor(scope: Construct, id: string, props: EffectProps) {
    super(scope, id);
    this.#effects = {
      'shop-cache': shopCache(this, props),
      cast: cast(this, props),
      'contact-partner': contactPartner(this, props),
      chat: chat(this, props),
      review: review(this, props),
    };
    this.#memory = new ProtectedTable(this, 'Idempotency', { ...props, key: 'id', expiry: 'expiration' });
    const effects = Object.values(this.#effects);
    this.outputs = Object.assign({}, ...effects.map(({ output }) => output));
  }

  access(name: EffectName): FunctionAccess {
    const { table, environment, permissions } = this.#effects[name];
    // A notification is remembered before it is sent, and forgotten if that fails.
    const remember =
      table === undefined
        ? ['dynamodb:DeleteItem', 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem']
        : ['dynamodb:GetItem', 'dynamodb:UpdateItem'];
    return {
      environment: { IDEMPOTENCY_TABLE: this.#memory.tableName, ...environment },
      permissions: [this.#memory.permission(...remember), ...permissions],
    };
  }
}
