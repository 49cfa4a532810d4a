export { InspectorPort } from './inspector-port.ts';
export {
  type FunctionDefinition,
  type FunctionError,
  type FunctionLogLine,
  type InvocationResult,
  TooManyRequestsError,
} from './invocation.ts';
export { LocalFunction } from './local-function.ts';
