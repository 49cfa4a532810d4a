import type { StackObserver } from './observation.ts';

/**
 * An observer that may throw: what is observed goes on, and it is said.
 * @param onProblem told what it threw, in one line
 */
export function guardedObserver(
  observer: StackObserver,
  onProblem: (message: string) => void,
): StackObserver {
  function guarded<Told>(what: string, tell: (told: Told) => void): (told: Told) => void {
    return (told) => {
      try {
        tell(told);
      } catch (error) {
        onProblem(`What observes ${what} failed: ${String(error).split('\n')[0]}`);
      }
    };
  }
  return {
    onExchange: guarded('requests', (exchange) => observer.onExchange(exchange)),
    onRow: guarded('rows', (change) => observer.onRow(change)),
    onNotification: guarded('notifications', (notification) => observer.onNotification(notification)),
  };
}
