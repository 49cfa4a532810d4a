import { SQSClient } from '@aws-sdk/client-sqs';
import type { AwsEndpoint } from './aws/endpoint.ts';
import type { DeployedFunctions } from './deployed-functions.ts';
import { type SqsEventSource, startSqsEventSource } from './functions/event-source/sqs-event-source.ts';
import { serviceOf } from './functions/function-definition.ts';
import { ACCOUNT_ID, clientSettings, REGION } from './place.ts';
import type { Resource, Resources } from './template/resources.ts';

/** Batches of a queue that are processed at a time, at most. */
const BATCHES_AT_A_TIME = 2;

/** What event sources of a stack need. */
export interface SourceOptions {
  readonly functions: DeployedFunctions;
  readonly aws: Pick<AwsEndpoint, 'addEventSourceMapping'>;
  readonly onProblem: (message: string) => void;
  /** Whether requests wait for a function: they come first, as in AWS neither waits for the other. @default none does */
  readonly isBusy?: () => boolean;
}

/** Starts event sources of a template. Their functions are there already. */
export function startEventSources(
  mappings: readonly Resource<'AWS::Lambda::EventSourceMapping'>[],
  resources: Resources,
  { functions, aws, onProblem, isBusy }: SourceOptions,
): SqsEventSource[] {
  const queues = new Map(resources.ofType('AWS::SQS::Queue').map((queue) => [queue.arn, queue.ref]));
  return mappings.map(({ logicalId, properties }) => {
    const queueUrl = queues.get(properties.EventSourceArn);
    const target = functions.target(properties.FunctionName);
    if (queueUrl === undefined || target === undefined) {
      throw new Error(`Event source mapping ${logicalId} needs a queue and a function of this stack`);
    }
    const { definition } = target;
    const source = startSqsEventSource(
      {
        functionName: serviceOf(definition),
        queueUrl,
        queueArn: properties.EventSourceArn,
        batchSize: properties.BatchSize,
        maximumBatchingWindowSeconds: properties.MaximumBatchingWindowInSeconds,
        reportBatchItemFailures: properties.FunctionResponseTypes.includes('ReportBatchItemFailures'),
        maximumConcurrency: Math.min(
          properties.ScalingConfig?.MaximumConcurrency ?? BATCHES_AT_A_TIME,
          BATCHES_AT_A_TIME,
        ),
        region: REGION,
      },
      {
        // Lambda polls with the rights of the function's role.
        client: new SQSClient(clientSettings(definition.awsEndpointUrl, definition.credentials.accessKeyId)),
        invoke: (event) => target.function.invoke(event),
        onProblem,
        ...(isBusy && { isBusy }),
      },
    );
    aws.addEventSourceMapping({
      eventSourceArn: properties.EventSourceArn,
      functionArn: functionArn(properties.FunctionName),
      settings: {
        BatchSize: properties.BatchSize,
        MaximumBatchingWindowInSeconds: properties.MaximumBatchingWindowInSeconds,
        FunctionResponseTypes: properties.FunctionResponseTypes,
        ScalingConfig: { ...properties.ScalingConfig },
      },
      disable: () => source.disable(),
      enable: () => source.enable(),
    });
    return source;
  });
}

/** @param name of a function, with its alias: a template may have this or the ARN */
function functionArn(name: string): string {
  return name.startsWith('arn:') ? name : `arn:aws:lambda:${REGION}:${ACCOUNT_ID}:function:${name}`;
}
