import { randomUUID } from 'node:crypto';
import type { AwsEndpoint } from '../aws/endpoint.ts';
import type { LocalFunction } from '../functions/local-function.ts';
import { type AccessLogSettings, INVOCATION_URI } from '../template/resource-properties.ts';
import type { DeployedResource, Resources } from '../template/resources.ts';
import { type Api, commonLogTime } from './api.ts';
import { httpApi } from './http-api.ts';
import { restApi } from './rest-api.ts';

/** @returns the function with an ARN or a name, or with that of its alias */
export type FindFunction = (name: string) => LocalFunction | undefined;

type LogWriter = Pick<AwsEndpoint, 'createLogGroup' | 'writeLog'>;

/**
 * The API of a template, which is an HTTP API or a REST API.
 * @param aws receives the access log
 * @throws Error if the API cannot run locally
 */
export function deployedApi(resources: Resources, find: FindFunction, aws: LogWriter) {
  const [rest] = resources.ofType('AWS::ApiGateway::RestApi');
  const { kind, api, accessLog } =
    rest === undefined ? deployedHttpApi(resources, find) : deployedRestApi(resources, rest, find);
  const group = LOG_GROUP_ARN.exec(accessLog?.DestinationArn ?? '')?.[1];
  if (accessLog === undefined || group === undefined) return { kind, api };
  aws.createLogGroup(group);
  return { kind, api: withAccessLog(api, accessLog.Format, (line) => aws.writeLog(group, line)) };
}

/** Matches the ARN of a log group. Group 1 is the name. */
const LOG_GROUP_ARN = /:log-group:([^:]+)/;

interface ApiOfTemplate {
  /** For people. */
  readonly kind: 'HTTP API' | 'REST API';
  readonly api: Api;
  readonly accessLog: AccessLogSettings | undefined;
}

function deployedHttpApi(resources: Resources, find: FindFunction): ApiOfTemplate {
  const integrations = new Map(
    resources
      .ofType('AWS::ApiGatewayV2::Integration')
      .map(({ ref, properties }) => [`integrations/${ref}`, find(properties.IntegrationUri)]),
  );
  const routes = resources.ofType('AWS::ApiGatewayV2::Route').map(({ logicalId, properties }) => {
    const target = integrations.get(properties.Target);
    if (target === undefined)
      throw new Error(`Route ${logicalId} needs an integration with a function of this stack`);
    return { routeKey: properties.RouteKey, invoke: (event: unknown) => target.invoke(event) };
  });
  const [stage] = resources.ofType('AWS::ApiGatewayV2::Stage');
  const [integration] = resources.ofType('AWS::ApiGatewayV2::Integration');
  const api = httpApi({
    apiId: `local${randomUUID().slice(0, 5)}`,
    routes,
    throttle: stage?.properties.DefaultRouteSettings,
    integrationLimitMilliseconds: integration?.properties.TimeoutInMillis,
  });
  return { kind: 'HTTP API', api, accessLog: stage?.properties.AccessLogSettings };
}

function deployedRestApi(
  resources: Resources,
  rest: DeployedResource<'AWS::ApiGateway::RestApi'>,
  find: FindFunction,
): ApiOfTemplate {
  const [stage, another] = resources.ofType('AWS::ApiGateway::Stage');
  if (stage === undefined || another !== undefined) {
    throw new Error(
      `The local stack cannot run AWS::ApiGateway::RestApi ${rest.logicalId}: it needs one stage`,
    );
  }
  const paths = resourcePaths(resources);
  const methods = resources.ofType('AWS::ApiGateway::Method').map(({ logicalId, properties }) => {
    const { HttpMethod, ResourceId, Integration } = properties;
    const target = find(INVOCATION_URI.exec(Integration.Uri)?.[1] ?? '');
    if (target === undefined) throw new Error(`Method ${logicalId} needs a function of this stack`);
    return {
      httpMethod: HttpMethod,
      resourceId: ResourceId,
      resourcePath: paths(ResourceId),
      invoke: (event: unknown) => target.invoke(event),
      integrationLimitMilliseconds: Integration.TimeoutInMillis,
    };
  });
  const { StageName, MethodSettings, AccessLogSetting } = stage.properties;
  const gatewayResponses = resources.ofType('AWS::ApiGateway::GatewayResponse');
  const api = restApi({
    apiId: rest.ref,
    stage: StageName,
    methods,
    gatewayResponses: gatewayResponses.map(({ properties }) => properties),
    throttle: MethodSettings?.[0],
  });
  return { kind: 'REST API', api, accessLog: AccessLogSetting };
}

/**
 * @returns a function that gives the path of a resource below the stage, by the resource's id. The root,
 * which is not a resource of the template, has the path `/`
 */
function resourcePaths(resources: Resources): (resourceId: string) => string {
  const byId = new Map(
    resources.ofType('AWS::ApiGateway::Resource').map(({ ref, properties }) => [ref, properties]),
  );
  const below = (resourceId: string): string => {
    const resource = byId.get(resourceId);
    return resource === undefined ? '' : `${below(resource.ParentId)}/${resource.PathPart}`;
  };
  return (resourceId) => below(resourceId) || '/';
}

/** A variable in the format of an access log, such as `$context.identity.sourceIp`. */
const VARIABLE = /\$context\.(\w+(?:\.\w+)*)/g;

const NO_VALUE = '-';

/**
 * Adds an access log to an API: a line for each answered request. `integrationErrorMessage` has no value,
 * because its texts are not documented. Source: API Gateway developer guide, "Variables for access logging".
 * @param format of a line, with variables
 */
export function withAccessLog(api: Api, format: string, write: (line: string) => void): Api {
  return {
    async answer(request, readBody) {
      const start = performance.now();
      const answer = await api.answer(request, readBody);
      const { response, context } = answer;
      if (context === undefined) return answer;
      const values: Readonly<Record<string, string>> = {
        'identity.sourceIp': request.sourceIp,
        httpMethod: request.method,
        requestTime: commonLogTime(request.receivedAt),
        responseLatency: String(Math.round(performance.now() - start)),
        responseLength: String(response.body.length),
        status: String(response.status),
        ...context,
      };
      write(format.replace(VARIABLE, (_, name: string) => values[name] ?? NO_VALUE));
      return answer;
    },
  };
}
