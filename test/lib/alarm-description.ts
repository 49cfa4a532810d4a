import { longestDescription } from '../../lib/alarms/alarm-description.ts';
import type { Resource, SynthesisedTemplate } from '../../tools/generate/synthesised-template.ts';

/** The description of an alarm as it is mailed, with the longest names that CloudFormation may put in. */
export function describedAs(
  template: SynthesisedTemplate,
  { properties }: Resource,
  stackName: string,
): string {
  const types = new Map(template.resources.map(({ logicalId, type }) => [logicalId, type]));
  return longestDescription(properties.AlarmDescription, { stackName, types });
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
