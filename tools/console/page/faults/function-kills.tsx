import { useState } from 'preact/hooks';
import { Button } from '../shared/button.tsx';

interface FunctionKillsProps {
  functions: readonly string[];
  /** @returns whether it was done */
  onKill: (name: string, next: boolean) => Promise<boolean>;
}

/** Ends a function in the middle of its work, as a crash of its machine would. */
export function FunctionKills({ functions, onKill }: FunctionKillsProps) {
  const [said, setSaid] = useState('');
  const kill = async (name: string, next: boolean) => {
    setSaid('');
    if (!(await onKill(name, next))) return;
    setSaid(
      next
        ? `${name} dies in the middle of its next invocation.`
        : `${name} was killed, with whatever it had in hand.`,
    );
  };
  return (
    <section class="stack" aria-labelledby="function-kills">
      <div>
        <h2 id="function-kills">Kill a function</h2>
        <p class="soft">
          The receiver’s delivery goes unanswered, and the partner sends it again. A consumer’s messages come
          back once their visibility ends, in three minutes, with --retry-fast in seconds: nothing is lost,
          and no row is written twice.
        </p>
      </div>
      <ul class="kills">
        {functions.map((name) => (
          <li key={name}>
            <span class="kill-name">{name}</span>
            <Button kind="quiet" aria-label={`Kill ${name} now`} onClick={() => kill(name, false)}>
              Now
            </Button>
            <Button
              kind="quiet"
              aria-label={`Kill ${name} at its next invocation`}
              onClick={() => kill(name, true)}
            >
              At its next invocation
            </Button>
          </li>
        ))}
      </ul>
      <p role="status" class="said">
        {said}
      </p>
    </section>
  );
}
