import type { Resource, SynthesisedTemplate } from '../../tools/generate/synthesised-template.ts';

/** What CloudFormation puts in for a pseudo parameter; the longest that there are. */
const PSEUDO_PARAMETERS: Readonly<Record<string, string>> = {
  'AWS::Region': 'ap-northeast-3',
  'AWS::AccountId': '111122223333',
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
};

/** The end of the access log's name, which the stack makes of its own id. */
const ACCESS_LOG = '0a1b2c3d-0000-11f0-8000-0123456789ab';

/** What CloudFormation appends to a name. */
const SUFFIX = '-A1B2C3D4E5F6';

/** The description of an alarm as it is mailed, with names as long as CloudFormation makes them. */
export function describedAs(template: SynthesisedTemplate, { properties }: Resource, stack: string): string {
  const { AlarmDescription: description } = properties;
  if (typeof description === 'string') return description;
  const [, parts]: [string, readonly unknown[]] = description['Fn::Join'];
  return parts.map((part) => resolved(template, part, stack)).join('');
}

/** The resources that the description of an alarm leads to, by their path, in its order. */
export function leadsTo(template: SynthesisedTemplate, { properties }: Resource): string[] {
  const parts: readonly unknown[] = properties.AlarmDescription['Fn::Join']?.[1] ?? [];
  return parts.flatMap((part) => {
    const isPseudo = typeof part === 'string' || String((part as { Ref?: string }).Ref).startsWith('AWS::');
    if (isAccessLog(part)) return ['Api/AccessLog'];
    return isPseudo ? [] : [template.referred(part)];
  });
}

const isAccessLog = (part: unknown) => typeof part === 'object' && part !== null && 'Fn::Select' in part;

function resolved(template: SynthesisedTemplate, part: unknown, stack: string): string {
  if (typeof part === 'string') return part;
  if (isAccessLog(part)) return ACCESS_LOG;
  const { Ref } = part as { Ref?: string };
  const pseudo = PSEUDO_PARAMETERS[Ref ?? ''];
  if (pseudo !== undefined) return pseudo;
  const path = template.referred(part);
  const { logicalId, type } = template.resources.find((resource) => resource.path === path) ?? {};
  const name = `${stack}-${logicalId}${SUFFIX}`;
  return type === 'AWS::SNS::Topic'
    ? `arn:aws:sns:${PSEUDO_PARAMETERS['AWS::Region']}:111122223333:${name}`
    : name;
}
