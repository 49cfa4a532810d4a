import { useEffect, useRef } from 'preact/hooks';
import type { Task } from '../../api.ts';

/** What a command says, as it says it; whoever has scrolled up is left there. */
export function TaskLines({ task: { command, lines, state } }: { task: Task }) {
  const element = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    const pre = element.current;
    if (pre !== null && follows.current) pre.scrollTop = pre.scrollHeight;
  }, [lines.length, command]);
  return (
    <pre
      ref={element}
      class="task-lines"
      role="log"
      aria-label={`What ${command} says`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which the keyboard must reach
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < 8;
      }}
    >
      {lines.length === 0 ? (
        <span class="soft">{state === 'running' ? 'Nothing said yet …' : 'It said nothing.'}</span>
      ) : (
        lines.join('\n')
      )}
    </pre>
  );
}
