import type { FunctionDefinition } from './function-definition.ts';

/**
 * Everything that a function's code finds in `process.env`: Lambda's own variables and the template's.
 *
 * Those that Lambda reserves cannot be set by the template
 * (https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html), nor can the address of
 * AWS: a function that runs here must not reach the real one.
 */
export function environmentVariables(
  definition: FunctionDefinition,
  log: { groupName: string; streamName: string },
): Record<string, string> {
  return {
    LANG: 'en_US.UTF-8',
    PATH: '/var/lang/bin:/usr/local/bin:/usr/bin/:/bin:/opt/bin',
    TZ: ':UTC',
    // The SDK looks for .aws/config here; a developer's own must not reach the function.
    HOME: definition.codeDirectory,
    ...definition.environment,
    _HANDLER: definition.handler,
    AWS_ACCESS_KEY_ID: definition.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: definition.credentials.secretAccessKey,
    AWS_DEFAULT_REGION: definition.region,
    AWS_REGION: definition.region,
    AWS_ENDPOINT_URL: definition.awsEndpointUrl,
    // By its address: for a name the SDK would put the bucket before it, and not every machine resolves that.
    AWS_ENDPOINT_URL_S3: definition.awsEndpointUrl.replace('localhost', '127.0.0.1'),
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMegabytes),
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: log.groupName,
    AWS_LAMBDA_LOG_STREAM_NAME: log.streamName,
    LAMBDA_TASK_ROOT: definition.codeDirectory,
  };
}
