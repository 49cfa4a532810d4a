import { useEffect, useState } from 'preact/hooks';

/** What comes within this time, in milliseconds, comes at once to whoever looks: a word before it would flicker. */
const SAID_AFTER = 300;

/** What stands where nothing has come yet. */
export function Loading() {
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(setIsLate, SAID_AFTER, true);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class="loading soft" role="status">
      {isLate && 'Loading …'}
    </p>
  );
}
