import { randomUUID } from 'node:crypto';
import type { AwsEndpoint } from '../aws/endpoint.ts';
import type { LocalFunction } from '../functions/local-function.ts';
import { type AccessLogSettings, INVOCATION_URI } from '../template/resource-properties.ts';
import type { DeployedResource, Resources } from '../template/resources.ts';
import { type Api, commonLogTime } from './api.ts';
import { httpApi } from './http-api.ts';
import { restApi } from './rest-api.ts';

/** The API of a template, and its kind, for people. */
export interface DeployedApi {
  readonly kind: 'HTTP API' | 'REST API';
  readonly api: Api;
}

/** @returns the function with an ARN or a name, or with that of its alias */
export type FindFunction = (name: string) => LocalFunction | undefined;

type LogWriter = Pick<AwsEndpoint, 'createLogGroup' | 'writeLog'>;

/**
 * The API of a template, which is an HTTP API or a REST API.
 * @param aws receives the access log
 * @throws Error if the API cannot run locally
 */
export function deployedApi(resources: Resources, find: FindFunction, aws: LogWriter): DeployedApi {
  const [rest] = resources.ofType('AWS::ApiGateway::RestApi');
  if (rest !== undefined) {
    const api = deployedRestApi(resources, rest, find);
    const [stage] = resources.ofType('AWS::ApiGateway::Stage');
    return { kind: 'REST API', api: logged(api, stage?.properties.AccessLogSetting, aws) };
  }
  const api = deployedHttpApi(resources, find);
  const [stage] = resources.ofType('AWS::ApiGatewayV2::Stage');
  return { kind: 'HTTP API', api: logged(api, stage?.properties.AccessLogSettings, aws) };
}

function logged(api: Api, settings: AccessLogSettings | undefined, aws: LogWriter): Api {
  const group = LOG_GROUP_ARN.exec(settings?.DestinationArn ?? '')?.[1];
  if (settings === undefined || group === undefined) return api;
  aws.createLogGroup(group);
  return withAccessLog(api, settings.Format, (line) => aws.writeLog(group, line));
}

/** Matches the ARN of a log group. Group 1 is the name. */
const LOG_GROUP_ARN = /:log-group:([^:]+)/;

function deployedHttpApi(resources: Resources, find: FindFunction): Api {
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
  return httpApi({
    apiId: `local${randomUUID().slice(0, 5)}`,
    routes,
    throttle: stage?.properties.DefaultRouteSettings,
    integrationLimitMilliseconds: integration?.properties.TimeoutInMillis,
  });
}

function deployedRestApi(
  resources: Resources,
  rest: DeployedResource<'AWS::ApiGateway::RestApi'>,
  find: FindFunction,
): Api {
  const [stage, another] = resources.ofType('AWS::ApiGateway::Stage');
  if (stage === undefined || another !== undefined) {
    throw new Error(
      `The local stack cannot run AWS::ApiGateway::RestApi ${rest.logicalId}: it needs one stage`,
    );
  }
  const paths = resourcePaths(resources);
  const methods = resources.ofType('AWS::ApiGateway::Method').map(({ logicalId, properties }) => {
    const { HttpMethod, ResourceId, Integration } = properties;
    const target = find(functionArnOf(Integration.Uri));
    if (target === undefined) throw new Error(`Method ${logicalId} needs a function of this stack`);
    return {
      httpMethod: HttpMethod,
      resourceId: ResourceId,
      resourcePath: paths(ResourceId),
      invoke: (event: unknown) => target.invoke(event),
      integrationLimitMilliseconds: Integration.TimeoutInMillis,
    };
  });
  return restApi({
    apiId: rest.ref,
    stage: stage.properties.StageName,
    methods,
    gatewayResponses: resources
      .ofType('AWS::ApiGateway::GatewayResponse')
      .map(({ properties }) => properties),
    throttle: stage.properties.MethodSettings?.[0],
  });
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

const functionArnOf = (uri: string) => INVOCATION_URI.exec(uri)?.[1] ?? '';

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
