import * as z from 'zod/mini';
import { type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../lambda/events/event-names.ts';
import { readCloudAssembly, type StackTemplate } from '../../../local/template/cloud-assembly.ts';

interface ConsumerSettings {
  readonly event: EventName;
  readonly memoryMegabytes: number;
  /** Maximum messages of a batch. */
  readonly batchSize: number;
  /** Maximum concurrent batches. */
  readonly maximumConcurrency: number;
}

/** The settings of a stack that determine its cost and its limits. */
export interface Deployment {
  readonly receiver: { readonly memoryMegabytes: number; readonly reservedConcurrency: number | undefined };
  readonly consumers: readonly ConsumerSettings[];
  readonly gateway: 'http' | 'rest';
  /** Number of AWS WAF rules. A managed rule group counts as one. Undefined without AWS WAF. */
  readonly firewallRules: number | undefined;
  /** Requests a second, and burst. */
  readonly apiThrottle: { readonly rate: number; readonly burst: number };
  /** X-Ray traces the first requests of each second and a share of the others. Undefined without tracing. */
  readonly tracing: { readonly rate: number; readonly reservoir: number } | undefined;
  /** Whether Lambda logs successful invocations. */
  readonly platformLogs: boolean;
  /** Bytes of access log for one delivery. */
  readonly accessLogBytes: number;
  readonly logRetentionDays: number;
  /** Number of metrics in all alarms: AWS charges each. */
  readonly alarmMetrics: number;
  readonly compositeAlarms: number;
  /** Custom metrics that are published if all events are accepted and processed. */
  readonly customMetrics: number;
  readonly dashboards: number;
  readonly secrets: number;
  readonly keys: number;
  /**
   * Seconds for which the queues reuse a KMS data key. Undefined without a customer managed key: then only the topics
   * use KMS.
   */
  readonly queueDataKeySeconds: number | undefined;
  /** Undefined without an archive. */
  readonly archive:
    | {
        readonly days: number;
        /** An object ends when it reaches one of these, whichever comes first. */
        readonly bufferSeconds: number;
        readonly bufferMegabytes: number;
      }
    | undefined;
}

/** Metrics that filters count from log lines about successes. A test compares them with the published ones. */
const WHERE_ALL_GOES_WELL = ['Verified', 'DeliveryLag', 'EffectLatency'];

/** Lambda's default. Source: Lambda developer guide, "Visualize Lambda function invocations using AWS X-Ray". */
export const LAMBDA_SAMPLING = { rate: 0.05, reservoir: 1 };

/**
 * Maximum concurrency of an event source without a setting. Source: Lambda developer guide, "Configuring scaling
 * behavior for SQS event source mappings".
 */
const UNLIMITED_EVENT_SOURCE = 1_250;

/** Values of the access log with their usual length. Others count as empty. */
const ACCESS_LOG_VALUES: Readonly<Record<string, string>> = {
  requestId: 'PK5UXdR0Mm3MlFE=',
  extendedRequestId: 'PK5UXdR0Mm3MlFE=',
  requestTime: '31/Jan/2026:09:00:00 +0000',
  'identity.sourceIp': '203.0.113.100',
  httpMethod: 'POST',
  routeKey: 'POST /api/v1/webhooks/partner',
  resourcePath: '/v1/webhooks/partner',
  'error.responseType': '-',
  status: '200',
  responseLength: '139',
  responseLatency: '25',
  integrationErrorMessage: '-',
};

const reference = z.object({ Ref: z.string() });
const throttle = z.object({ ThrottlingRateLimit: z.number(), ThrottlingBurstLimit: z.number() });
const accessLog = z.object({ Format: z.string() });
const properties = {
  function: z.object({
    MemorySize: z.number(),
    ReservedConcurrentExecutions: z.optional(z.number()),
    TracingConfig: z.optional(z.object({ Mode: z.string() })),
    LoggingConfig: z.object({ SystemLogLevel: z.string() }),
    Environment: z.object({
      Variables: z.looseObject({ POWERTOOLS_SERVICE_NAME: z.string(), QUEUE_URL: z.optional(reference) }),
    }),
  }),
  eventSource: z.object({
    EventSourceArn: z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.literal('Arn')]) }),
    BatchSize: z.number(),
    ScalingConfig: z.optional(z.object({ MaximumConcurrency: z.optional(z.number()) })),
  }),
  httpStage: z.object({ DefaultRouteSettings: throttle, AccessLogSettings: accessLog }),
  restStage: z.object({ MethodSettings: z.tuple([throttle]), AccessLogSetting: accessLog }),
  firewall: z.object({ Rules: z.array(z.unknown()) }),
  metricFilter: z.object({
    FilterPattern: z.string(),
    MetricTransformations: z.tuple([
      z.object({
        MetricName: z.string(),
        Dimensions: z._default(z.array(z.object({ Key: z.string() })), []),
      }),
    ]),
  }),
  alarm: z.object({ Metrics: z.optional(z.array(z.object({ MetricStat: z.optional(z.unknown()) }))) }),
  logGroup: z.object({ RetentionInDays: z.number() }),
  deliveryStream: z.object({
    ExtendedS3DestinationConfiguration: z.object({
      BucketARN: z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.literal('Arn')]) }),
      Prefix: z.string(),
      BufferingHints: z.object({ IntervalInSeconds: z.number(), SizeInMBs: z.number() }),
    }),
  }),
  bucket: z.object({
    LifecycleConfiguration: z.object({
      Rules: z.array(z.object({ Prefix: z.optional(z.string()), ExpirationInDays: z.number() })),
    }),
  }),
  encryptedQueue: z.object({ KmsMasterKeyId: z.unknown(), KmsDataKeyReusePeriodSeconds: z.number() }),
};

/**
 * Reads the settings of a synthesised stack.
 * @param assembly folder of a cloud assembly with one stack
 * @throws Error if the stack lacks the receiver, one stage of the API or a consumer for each event
 */
export function readDeployment(assembly: string): Deployment {
  const { template } = readCloudAssembly(assembly);
  const ofType = (type: string) => Object.values(template.Resources).filter(({ Type }) => Type === type);
  const parsed = <Schema extends z.ZodMiniType>(type: string, schema: Schema): z.infer<Schema>[] =>
    ofType(type).flatMap(({ Properties }) => {
      const result = schema.safeParse(Properties);
      return result.success ? [result.data] : [];
    });

  // The CDK's own functions have no service name.
  const functions = parsed('AWS::Lambda::Function', properties.function);
  const service = (name: string) =>
    only(
      functions.filter(({ Environment }) => Environment.Variables.POWERTOOLS_SERVICE_NAME === name),
      `function ${name}`,
    );
  const eventSources = parsed('AWS::Lambda::EventSourceMapping', properties.eventSource);
  const stage = only(
    [
      ...parsed('AWS::ApiGatewayV2::Stage', properties.httpStage).map((http) => ({
        gateway: 'http' as const,
        throttle: http.DefaultRouteSettings,
        accessLog: http.AccessLogSettings,
      })),
      ...parsed('AWS::ApiGateway::Stage', properties.restStage).map((rest) => ({
        gateway: 'rest' as const,
        throttle: rest.MethodSettings[0],
        accessLog: rest.AccessLogSetting,
      })),
    ],
    'stage of the API',
  );
  const [firewall] = parsed('AWS::WAFv2::WebACL', properties.firewall);
  const receiver = service('receiver');

  return {
    receiver: {
      memoryMegabytes: receiver.MemorySize,
      reservedConcurrency: receiver.ReservedConcurrentExecutions,
    },
    consumers: eventNames.map((event) => {
      const consumer = service(kebabCase(event));
      const source = only(
        eventSources.filter(
          ({ EventSourceArn }) =>
            EventSourceArn['Fn::GetAtt'][0] === consumer.Environment.Variables.QUEUE_URL?.Ref,
        ),
        `event source of ${event}`,
      );
      return {
        event,
        memoryMegabytes: consumer.MemorySize,
        batchSize: source.BatchSize,
        maximumConcurrency: source.ScalingConfig?.MaximumConcurrency ?? UNLIMITED_EVENT_SOURCE,
      };
    }),
    gateway: stage.gateway,
    firewallRules: firewall?.Rules.length,
    apiThrottle: {
      rate: stage.throttle.ThrottlingRateLimit,
      burst: stage.throttle.ThrottlingBurstLimit,
    },
    tracing: receiver.TracingConfig?.Mode === 'Active' ? LAMBDA_SAMPLING : undefined,
    platformLogs: receiver.LoggingConfig.SystemLogLevel === 'INFO',
    accessLogBytes: Buffer.byteLength(
      stage.accessLog.Format.replace(
        /\$context\.([\w.]+)/g,
        (_, name: string) => ACCESS_LOG_VALUES[name] ?? '',
      ),
    ),
    logRetentionDays: Math.max(
      ...parsed('AWS::Logs::LogGroup', properties.logGroup).map(({ RetentionInDays }) => RetentionInDays),
    ),
    alarmMetrics: parsed('AWS::CloudWatch::Alarm', properties.alarm).reduce(
      (sum, { Metrics }) => sum + (Metrics?.filter(({ MetricStat }) => MetricStat !== undefined).length ?? 1),
      0,
    ),
    compositeAlarms: ofType('AWS::CloudWatch::CompositeAlarm').length,
    customMetrics: new Set(
      metricFilters(assembly)
        .filter(({ metric }) => WHERE_ALL_GOES_WELL.includes(metric))
        // A metric with a dimension counts once for each event.
        .map(({ metric, dimensions, pattern }) => (dimensions.length === 0 ? metric : pattern)),
    ).size,
    dashboards: ofType('AWS::CloudWatch::Dashboard').length,
    secrets: ofType('AWS::SecretsManager::Secret').length,
    keys: ofType('AWS::KMS::Key').length,
    queueDataKeySeconds: parsed('AWS::SQS::Queue', properties.encryptedQueue)[0]
      ?.KmsDataKeyReusePeriodSeconds,
    archive: archiveOf(template.Resources),
  };
}

/** Metric filters of a stack's logs, with the names of their dimensions. */
export function metricFilters(
  assembly: string,
): { readonly pattern: string; readonly metric: string; readonly dimensions: readonly string[] }[] {
  return Object.values(readCloudAssembly(assembly).template.Resources)
    .filter(({ Type }) => Type === 'AWS::Logs::MetricFilter')
    .map(({ Properties }) => {
      const {
        FilterPattern: pattern,
        MetricTransformations: [{ MetricName: metric, Dimensions }],
      } = properties.metricFilter.parse(Properties);
      return { pattern, metric, dimensions: Dimensions.map(({ Key }) => Key) };
    });
}

/** @throws Error if the archive's bucket has no lifecycle rule for the records */
function archiveOf(resources: StackTemplate['Resources']): Deployment['archive'] {
  const [stream] = Object.values(resources).filter(
    ({ Type }) => Type === 'AWS::KinesisFirehose::DeliveryStream',
  );
  if (stream === undefined) return undefined;
  const { BucketARN, Prefix, BufferingHints } = properties.deliveryStream.parse(
    stream.Properties,
  ).ExtendedS3DestinationConfiguration;
  const bucket = properties.bucket.parse(resources[BucketARN['Fn::GetAtt'][0]]?.Properties);
  const rules = bucket.LifecycleConfiguration.Rules.filter(({ Prefix: prefix = '' }) =>
    Prefix.startsWith(prefix),
  );
  return {
    days: only(rules, 'rule of the archive’s bucket').ExpirationInDays,
    bufferSeconds: BufferingHints.IntervalInSeconds,
    bufferMegabytes: BufferingHints.SizeInMBs,
  };
}

function only<Item>(items: readonly Item[], what: string): Item {
  const [item] = items;
  if (item === undefined || items.length > 1) {
    throw new Error(`Expected one ${what} in the template, found ${items.length}`);
  }
  return item;
}
