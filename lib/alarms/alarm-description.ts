import { type CfnElement, CfnResource, type Stack } from 'aws-cdk-lib';
import { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';

/** Maximum length, in characters. Source: CloudWatch API reference, `PutMetricAlarm`, `AlarmDescription`. */
const MAX_LENGTH = 1_024;

/** The longest possible value of each pseudo parameter that a description uses. */
const PSEUDO_PARAMETERS: Readonly<Record<string, string>> = {
  'AWS::AccountId': '111122223333',
  'AWS::Region': 'ap-northeast-3',
  'AWS::URLSuffix': 'amazonaws.com.cn',
};

/** A UUID: the last part of a stack's id, and of the access log's name. */
const STACK_UUID = '0a1b2c3d-0000-11f0-8000-0123456789ab';

/** CloudFormation appends this to the names that it generates. */
const SUFFIX = '-A1B2C3D4E5F6G';

/** Maximum characters of generated names, by resource type. Sources: quotas of the services. */
const MAX_NAME_LENGTHS: Readonly<Record<string, number>> = {
  'AWS::ApiGateway::RestApi': 10,
  'AWS::ApiGatewayV2::Api': 10,
  'AWS::Lambda::Function': 64,
  'AWS::Logs::LogGroup': 512,
  'AWS::SNS::Topic': 256,
  'AWS::SQS::Queue': 80,
};

interface AlarmStack {
  readonly stackName: string;
  /** Resource types by logical id. */
  readonly types: ReadonlyMap<string, string>;
}

/**
 * The description as it appears in the mail, with the longest names that CloudFormation may insert.
 * @param part the description in a template, or a part of it
 * @throws Error if it contains an unknown function
 */
export function longestDescription(part: unknown, stack: AlarmStack): string {
  if (typeof part === 'string') return part;
  const [[name, value] = []] = Object.entries(part as object);
  switch (name) {
    case 'Fn::Join':
      return (value as [string, unknown[]])[1].map((item) => longestDescription(item, stack)).join('');
    case 'Fn::GetAtt':
      return nameOf((value as [string, string])[0], stack);
    case 'Fn::Select':
      return STACK_UUID;
    case 'Ref':
      return PSEUDO_PARAMETERS[value] ?? nameOf(value, stack);
    default:
      throw new Error(`Unknown function in the description of an alarm: ${name}`);
  }
}

function nameOf(logicalId: string, { stackName, types }: AlarmStack): string {
  const type = types.get(logicalId) ?? '';
  const name = `${stackName}-${logicalId}${SUFFIX}`.slice(0, MAX_NAME_LENGTHS[type]);
  return type === 'AWS::SNS::Topic' ? `arn:aws-us-gov:sns:ap-northeast-3:111122223333:${name}` : name;
}

/**
 * The message about descriptions that CloudWatch would reject for their length.
 * @returns undefined if there are none
 */
export function tooLongDescriptions(stack: Stack): string | undefined {
  const resources = stack.node.findAll().filter((construct) => construct instanceof CfnResource);
  const logicalIdOf = (resource: CfnElement) => String(stack.resolve(resource.logicalId));
  const { stackName } = stack;
  const types = new Map(resources.map((resource) => [logicalIdOf(resource), resource.cfnResourceType]));
  const tooLong = resources
    .filter((resource) => resource instanceof CfnAlarm)
    .map(({ node, alarmDescription }) => ({
      alarm: node.path.slice(stack.node.path.length + 1).replace(/\/Resource$/, ''),
      length: longestDescription(stack.resolve(alarmDescription), { stackName, types }).length,
    }))
    .filter(({ length }) => length > MAX_LENGTH);
  if (tooLong.length === 0) return undefined;
  const max = MAX_LENGTH.toLocaleString('en');
  return [
    `CloudWatch takes at most ${max} characters for the description of an alarm. Shorten runbook, or the name of the stage:`,
    ...tooLong.map(({ alarm, length }) => `  ${alarm} has ${length.toLocaleString('en')}`),
  ].join('\n');
}
