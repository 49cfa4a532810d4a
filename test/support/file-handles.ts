import { createHook } from 'node:async_hooks';

/** @returns a function that ends the recording, and tells whether each file opened meanwhile is still open */
export function recordFileHandles(): () => ('open' | 'closed')[] {
  const handles: { readonly fd: number }[] = [];
  const hook = createHook({
    init(_id, type, _triggerId, resource) {
      if (type === 'FILEHANDLE') handles.push(resource as { fd: number });
    },
  }).enable();
  return () => {
    hook.disable();
    // A closed handle has a negative descriptor.
    return handles.map(({ fd }) => (fd < 0 ? 'closed' : 'open'));
  };
}
