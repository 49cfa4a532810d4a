import { stageOverrides } from '../../local/template/synthesise.ts';
import type { GatewayKind } from '../../tools/cli/terminal/options.ts';
import { sharedAssembly } from './shared-assembly.ts';
import { testAssembly } from './test-stack.ts';

/** The cloud assembly of the stack with such an API. @returns its folder */
export async function gatewayAssembly(gateway: GatewayKind): Promise<string> {
  return gateway === 'http' ? testAssembly() : sharedAssembly(gateway, stageOverrides({ gateway }));
}

/** The same, with other settings of the stage besides. @param name of its own among those with others */
export function scarceAssembly(gateway: GatewayKind, name: string, fields: object): Promise<string> {
  return sharedAssembly(`${gateway}-${name}`, stageOverrides({ ...fields, gateway }));
}
