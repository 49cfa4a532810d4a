import * as z from 'zod/mini';
import { type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../lambda/events/event-names.ts';
import { readCloudAssembly, type Template } from '../../../local/template/cloud-assembly.ts';

export interface ConsumerSettings {
  readonly event: EventName;
  readonly memoryMegabytes: number;
  /** Messages of a batch at most. */
  readonly batchSize: number;
  /** Batches at a time at most. */
  readonly maximumConcurrency: number;
}

/** What of a stack decides what it costs and how much it takes. */
export interface Deployment {
  readonly receiver: { readonly memoryMegabytes: number; readonly reservedConcurrency: number | undefined };
  readonly consumers: readonly ConsumerSettings[];
  /** What stands before the receiver. */
  readonly gateway: 'http' | 'rest';
  /** Rules of AWS WAF before it, each managed list one of them; undefined: it has none. */
  readonly firewallRules: number | undefined;
  /** Requests a second, and requests at once. */
  readonly apiThrottle: { readonly rate: number; readonly burst: number };
  /** What X-Ray follows: the first of each second, and a share of the others. undefined: nothing */
  readonly tracing: { readonly rate: number; readonly reservoir: number } | undefined;
  /** Whether Lambda logs of invocations that do not fail. */
  readonly platformLogs: boolean;
  /** Bytes of the API's access log for one delivery. */
  readonly accessLogBytes: number;
  readonly logRetentionDays: number;
  /** Metrics of all alarms: each is paid for. */
  readonly alarmMetrics: number;
  readonly compositeAlarms: number;
  /** Custom metrics that are published where every event is accepted and processed. */
  readonly customMetrics: number;
  readonly dashboards: number;
  readonly secrets: number;
  readonly keys: number;
  /**
   * Seconds for which the queues use a data key of KMS, where everything is under a key of one's own; undefined: only
   * the topics are.
   */
  readonly queueDataKeySeconds: number | undefined;
  /** undefined: none is kept. */
  readonly archive:
    | {
        readonly days: number;
        /** What ends an object, whichever comes first. */
        readonly bufferSeconds: number;
        readonly bufferMegabytes: number;
      }
    | undefined;
}

/** Metrics that filters make of lines about what goes well: a test holds them against what is published. */
const WHERE_ALL_GOES_WELL = ['Verified', 'DeliveryLag', 'EffectLatency'];

/**
 * What Lambda takes where nobody else decides. Source: Lambda developer guide, "Visualize Lambda function invocations using
 * AWS X-Ray".
 */
export const LAMBDA_SAMPLING = { rate: 0.05, reservoir: 1 };

/**
 * What Lambda runs at most where an event source has no maximum. Source: Lambda developer guide,
 * "Configuring scaling behavior for SQS event source mappings".
 */
const UNLIMITED_EVENT_SOURCE = 1_250;

/** Values of the access log as long as they commonly are; of others only the quotation marks count. */
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
 * Reads the settings of a synthesised stack: what is computed from them is computed of what would be deployed.
 * @param assembly folder of a cloud assembly with one stack
 * @throws Error where the stack has not the receiver, the API's one stage and a consumer for each event
 */
export function readDeployment(assembly: string): Deployment {
  const { template } = readCloudAssembly(assembly);
  const ofType = (type: string) => Object.values(template.Resources).filter(({ Type }) => Type === type);
  const parsed = <Schema extends z.ZodMiniType>(type: string, schema: Schema): z.infer<Schema>[] =>
    ofType(type).flatMap(({ Properties }) => {
      const result = schema.safeParse(Properties);
      return result.success ? [result.data] : [];
    });

  // Functions of the CDK's own have no service name.
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
        // Each that has a dimension is of an event of its own.
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

/** Filters of a stack's logs, each with the metric that it makes and the names of that one's dimensions. */
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

/** @throws Error where the bucket of the records does not say how long it keeps them */
function archiveOf(resources: Template['Resources']): Deployment['archive'] {
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
