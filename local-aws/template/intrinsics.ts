/** Values of references in a template. Each function throws or returns undefined for an unknown name. */
export interface References {
  ref(name: string): string | undefined;
  attribute(resource: string, attribute: string): string | undefined;
}

/** Types whose `Ref` is an ARN. */
export const WITH_ARN_AS_REF = [
  'SNS::Topic',
  'SecretsManager::Secret',
  'Lambda::Version',
  'Lambda::Alias',
].map((type) => `AWS::${type}`);

/** Value of a property that must be removed, because the template has `AWS::NoValue` there. */
const NO_VALUE = Symbol('AWS::NoValue');

/**
 * Evaluates the intrinsic functions of CloudFormation in a part of a template.
 * @throws Error for an unknown function or reference
 */
export function resolveIntrinsics(value: unknown, references: References): unknown {
  const resolved = evaluate(value, references);
  return resolved === NO_VALUE ? undefined : resolved;
}

function evaluate(value: unknown, references: References): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => evaluate(item, references)).filter((item) => item !== NO_VALUE);
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [name, argument] = entries.length === 1 ? (entries[0] as [string, unknown]) : [];
  if (name === 'Ref') return ref(String(argument), references);
  if (name?.startsWith('Fn::')) return call(name, argument, references);
  return Object.fromEntries(
    entries.map(([key, item]) => [key, evaluate(item, references)]).filter(([, item]) => item !== NO_VALUE),
  );
}

function ref(name: string, references: References): unknown {
  return name === 'AWS::NoValue' ? NO_VALUE : known(references.ref(name), `Ref ${name}`);
}

function call(name: string, argument: unknown, references: References): unknown {
  switch (name) {
    case 'Fn::GetAtt': {
      const [resource, attribute] = argument as [string, string];
      return known(references.attribute(resource, attribute), `Fn::GetAtt ${resource}.${attribute}`);
    }
    case 'Fn::Join': {
      const [separator, items] = evaluate(argument, references) as [string, string[]];
      return items.join(separator);
    }
    case 'Fn::Select': {
      const [index, items] = evaluate(argument, references) as [number | string, unknown[]];
      return items[Number(index)];
    }
    case 'Fn::Split': {
      const [separator, text] = evaluate(argument, references) as [string, string];
      return text.split(separator);
    }
    case 'Fn::Sub':
      return substitute(argument, references);
    default:
      throw new Error(`The local stack does not know ${name}`);
  }
}

/** CDK writes only the form with names of parameters and resources. */
function substitute(argument: unknown, references: References): string {
  if (typeof argument !== 'string' || /\$\{[^}]*[.!]/.test(argument)) {
    throw new Error(`The local stack does not know this form of Fn::Sub: ${JSON.stringify(argument)}`);
  }
  return argument.replace(/\$\{([^}]+)\}/g, (_, name: string) => String(ref(name, references)));
}

function known(value: string | undefined, what: string): string {
  if (value === undefined)
    throw new Error(`The template refers to something that the local stack does not have: ${what}`);
  return value;
}
