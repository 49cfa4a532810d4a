import type { LocalStack } from '../../../local/local-stack.ts';
import type { Source } from '../source.ts';
import type { News } from './news.ts';
import { MeasuredAges } from './queue-depths.ts';
import type { Inspect } from './queue-messages.ts';
import { QueueUse } from './queue-use.ts';
import { Tasks } from './tasks.ts';

/** What the routes remember that look into queues, and act. */
export class Acting {
  readonly use = new QueueUse();
  readonly ages: MeasuredAges;
  readonly tasks: Tasks;
  /** Whether the stack runs in this process, and takes any delivery. */
  readonly local: boolean;
  /** Looks into a queue without receiving; undefined of a stage. */
  readonly inspect: Inspect | undefined;

  /** @param local the stack, where it runs in this process */
  constructor({ stage: stack }: Pick<Source, 'stage'>, local: LocalStack | undefined, news: News) {
    this.ages = new MeasuredAges(stack);
    this.tasks = new Tasks(stack, (task) => news.task(task));
    this.local = local !== undefined;
    this.inspect = local && ((url) => local.inspectQueue(url));
  }
}
