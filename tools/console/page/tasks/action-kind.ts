import type { Action, StackInfo, Task } from '../../api.ts';

/** All but a look at what a replay would do. */
export const changesSomething = (action: Action) => !(action.kind === 'replay' && action.dryRun);

/** Why an action is not offered; undefined where it is. */
export function refusalOf({ readOnly }: StackInfo): string | undefined {
  return readOnly ? 'The console was started with --read-only: nothing can be changed' : undefined;
}

/** Of a deployed stage everything that changes something is asked for first. */
export const asksFirst = ({ local }: StackInfo, actions: readonly Action[]) =>
  !local && actions.some(changesSomething);

/** What is sent shows in the list of deliveries, and a plan beside its form: the tasks need not open for it. */
export function isSeenElsewhere(action: Action): boolean {
  return ['send', 'resend', 'send-text', 'replay'].includes(action.kind);
}

/** How many tasks have come to their end: whatever they changed is to be looked at anew when it grows. */
export const endedCount = (tasks: readonly Task[]) => tasks.filter(({ state }) => state !== 'running').length;
