import { type Loaded, useLoad } from '../shared/use-load.ts';
import { useConsole } from '../shell/context.ts';
import { type Decoded, decode } from '../text/decode.ts';

export interface Body extends Decoded {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The bytes that came in. @param missing why they are not there: once that changes they may be */
export function useBody(id: string, missing: string | undefined): Loaded<Body> {
  const { api } = useConsole();
  return useLoad(`${id} ${missing ?? ''}`, async (signal) => loadBody(api, id, signal));
}

export async function loadBody(
  api: ReturnType<typeof useConsole>['api'],
  id: string,
  signal?: AbortSignal,
): Promise<Body> {
  const response = await api.request(
    `/api/deliveries/${encodeURIComponent(id)}/body`,
    signal === undefined ? {} : { signal },
  );
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { bytes, ...decode(bytes) };
}
