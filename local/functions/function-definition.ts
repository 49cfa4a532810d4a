/** A Lambda function as the template describes it. */
export interface FunctionDefinition {
  /** Physical function name. */
  name: string;
  /** Module and export, such as `index.handler`. */
  handler: string;
  /** Folder of the bundled code. `.js` files are of the module kind that the nearest package.json says. */
  codeDirectory: string;
  /** The template's variables. */
  environment: Record<string, string>;
  timeoutSeconds: number;
  /** Bounds the JavaScript heap and the buffers of an execution environment; what else it takes is not known. */
  memoryMegabytes: number;
  /** Invocations at a time at most; Lambda throttles further ones. @default none is too many */
  reservedConcurrency?: number | undefined;
  /** Execution environments at most, which is this machine's limit and not Lambda's; further invocations wait in line. */
  maximumConcurrency: number;
  /** The access key by which the AWS endpoint knows the function's role. */
  credentials: { accessKeyId: string; secretAccessKey: string };
  region: string;
  awsEndpointUrl: string;
}

/** The name on the command line: `receiver`, `shop-updated`. */
export const serviceOf = ({ environment, name }: FunctionDefinition): string =>
  environment.POWERTOOLS_SERVICE_NAME ?? name;
