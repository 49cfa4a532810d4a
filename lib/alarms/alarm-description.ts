import { type CfnElement, CfnResource, type Stack } from 'aws-cdk-lib';
import { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';

/** Characters. Source: CloudWatch API reference, `PutMetricAlarm`, `AlarmDescription`. */
const MAXIMUM_LENGTH = 1_024;

/** The longest value of each pseudo parameter that a description names. */
const PSEUDO_PARAMETERS: Readonly<Record<string, string>> = {
  'AWS::AccountId': '111122223333',
  'AWS::Region': 'ap-northeast-3',
  'AWS::URLSuffix': 'amazonaws.com.cn',
};

/** The end of a stack's id, which is a UUID, and of the access log's name. */
const STACK_UUID = '0a1b2c3d-0000-11f0-8000-0123456789ab';

/** What CloudFormation appends to a name that it makes. */
const SUFFIX = '-A1B2C3D4E5F6G';

/** Characters to which CloudFormation shortens the names that it makes, by type. Sources: quotas of the services. */
const LONGEST_NAMES: Readonly<Record<string, number>> = {
  'AWS::ApiGateway::RestApi': 10,
  'AWS::ApiGatewayV2::Api': 10,
  'AWS::Lambda::Function': 64,
  'AWS::Logs::LogGroup': 512,
  'AWS::SNS::Topic': 256,
  'AWS::SQS::Queue': 80,
};

/** Where the alarm is deployed. */
interface Place {
  readonly stackName: string;
  /** The type of a resource by its logical id. */
  readonly typeOf: (logicalId: string) => string | undefined;
}

/**
 * A description as it is mailed, with the longest names that CloudFormation may put in.
 * @param part the description of a template, or a part of it
 * @throws Error if it has a function that is not known here
 */
export function longestDescription(part: unknown, place: Place): string {
  if (typeof part === 'string') return part;
  const [[name, value] = []] = Object.entries(part as object);
  switch (name) {
    case 'Fn::Join':
      return (value as [string, unknown[]])[1].map((one) => longestDescription(one, place)).join('');
    case 'Fn::GetAtt':
      return nameOf((value as [string, string])[0], place);
    case 'Fn::Select':
      return STACK_UUID;
    case 'Ref':
      return PSEUDO_PARAMETERS[value] ?? nameOf(value, place);
    default:
      throw new Error(`The description of an alarm has ${name}: how long is that?`);
  }
}

function nameOf(logicalId: string, { stackName, typeOf }: Place): string {
  const type = typeOf(logicalId) ?? '';
  const name = `${stackName}-${logicalId}${SUFFIX}`.slice(0, LONGEST_NAMES[type]);
  return type === 'AWS::SNS::Topic' ? `arn:aws-us-gov:sns:ap-northeast-3:111122223333:${name}` : name;
}

/** Says which alarms of a stack CloudWatch would refuse. @returns undefined if there are none */
export function tooLongDescriptions(stack: Stack): string | undefined {
  const resources = stack.node.findAll().filter((construct) => construct instanceof CfnResource);
  const logicalIdOf = (resource: CfnElement) => String(stack.resolve(resource.logicalId));
  const types = new Map(resources.map((one) => [logicalIdOf(one), one.cfnResourceType]));
  const place: Place = { stackName: stack.stackName, typeOf: (logicalId) => types.get(logicalId) };
  const tooLong = resources
    .filter((one) => one instanceof CfnAlarm)
    .map((one) => ({
      alarm: one.node.path.slice(stack.node.path.length + 1).replace(/\/Resource$/, ''),
      length: longestDescription(stack.resolve(one.alarmDescription), place).length,
    }))
    .filter(({ length }) => length > MAXIMUM_LENGTH);
  if (tooLong.length === 0) return undefined;
  const most = MAXIMUM_LENGTH.toLocaleString('en');
  return [
    `CloudWatch takes at most ${most} characters for the description of an alarm. Shorten runbook, or the name of the stage:`,
    ...tooLong.map(({ alarm, length }) => `  ${alarm} has ${length.toLocaleString('en')}`),
  ].join('\n');
}
