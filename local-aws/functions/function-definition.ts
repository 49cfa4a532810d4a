/** A Lambda function as the template describes it. */
export interface FunctionDefinition {
  name: string;
  /** Module and export, such as `index.handler`. */
  handler: string;
  /** Folder of the bundled code. The nearest package.json decides whether `.js` files are ES modules. */
  codeDirectory: string;
  environment: Record<string, string>;
  timeoutSeconds: number;
  /**
   * Limit of the JavaScript heap and buffers of an execution environment. Other memory cannot be measured.
   */
  memoryMegabytes: number;
  /** Maximum concurrent invocations. Lambda throttles further ones. @default no limit */
  reservedConcurrency?: number | undefined;
  /** Maximum execution environments on this machine. Further invocations wait. */
  maximumConcurrency: number;
  /** Access key of the function's role at the AWS endpoint. */
  credentials: { accessKeyId: string; secretAccessKey: string };
  awsEndpointUrl: string;
}

/** A short name for people: that of Powertools for AWS Lambda, or else the function's own. */
export const serviceOf = ({ environment, name }: FunctionDefinition): string =>
  environment.POWERTOOLS_SERVICE_NAME ?? name;
