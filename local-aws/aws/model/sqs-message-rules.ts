import { AwsError } from '../errors.ts';
import { FORBIDDEN_CHARACTER } from '../fauxqs.ts';
import { isJsonObject, type JsonObject, textOf } from '../json.ts';

const GROUP_ID = /^[\w!"#$%&'()*+,\-./:;<=>?@[\\\]^`{|}~]{1,128}$/;
const ATTRIBUTE_NAME = /^(?!\.|aws\.|amazon\.)(?!.*\.\.)[\w.-]{1,256}(?<!\.)$/i;
const ATTRIBUTE_TYPE = /^(?=.{1,256}$)(String|Number|Binary)(\.|$)/;
/** Up to 38 digits, from -10^128 to 10^126. Source: SQS developer guide, "Amazon SQS message metadata". */
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const MAX_DIGITS = 38;
const NUMBER_RANGE = { min: -1e128, max: 1e126 };
const MAX_ATTRIBUTES = 10;
const MAX_DELAY_SECONDS = 900;

/**
 * Checks a message for what SQS rejects and fauxqs accepts. Source of the rules: SQS API reference, `SendMessage`.
 * @param message the parameters of SendMessage, or an entry of SendMessageBatch
 * @throws AwsError
 */
export function checkMessage(message: JsonObject): void {
  if (!textOf(message, 'MessageBody')) {
    throw new AwsError('MissingParameter', 'The request must contain the parameter MessageBody.');
  }
  const { MessageGroupId: group, DelaySeconds: delay, MessageAttributes: attributes } = message;
  if (group !== undefined && group !== null && !GROUP_ID.test(String(group))) {
    throw invalid(
      `Value ${group} for parameter MessageGroupId is invalid. Reason: MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length.`,
    );
  }
  if (typeof delay === 'number' && !(delay >= 0 && delay <= MAX_DELAY_SECONDS)) {
    throw invalid(
      `Value ${delay} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= ${MAX_DELAY_SECONDS}.`,
    );
  }
  const entries = Object.entries(isJsonObject(attributes) ? attributes : {});
  if (entries.length > MAX_ATTRIBUTES) {
    throw invalid(
      `Number of message attributes [${entries.length}] exceeds the allowed maximum [${MAX_ATTRIBUTES}].`,
    );
  }
  for (const [name, attribute] of entries) checkAttribute(name, isJsonObject(attribute) ? attribute : {});
}

function checkAttribute(name: string, attribute: JsonObject): void {
  if (!ATTRIBUTE_NAME.test(name)) {
    throw invalid(
      `The message attribute name '${name}' is invalid. Attribute name can contain A-Z, a-z, 0-9, underscore (_), hyphen (-), and period (.) characters.`,
    );
  }
  const type = textOf(attribute, 'DataType');
  if (!type) throw invalid(`The message attribute '${name}' must contain non-empty attribute type.`);
  if (!ATTRIBUTE_TYPE.test(type)) {
    throw invalid(
      `The type of message attribute '${name}' is invalid. You must use only the following supported type prefixes: Binary, Number, String.`,
    );
  }
  const value = textOf(attribute, type.startsWith('Binary') ? 'BinaryValue' : 'StringValue');
  if (!value) {
    throw invalid(`The message attribute '${name}' must contain non-empty message attribute value.`);
  }
  if (type.startsWith('Number') && !isNumber(value)) {
    throw invalid(`Can't cast the value of message (user) attribute '${name}' to a number.`);
  }
  const forbidden = FORBIDDEN_CHARACTER.exec(value)?.[0].codePointAt(0)?.toString(16);
  if (forbidden !== undefined) {
    throw invalid(
      `Invalid binary character '#x${forbidden}' was found in the message attribute '${name}' value, the set of allowed characters is #x9 | #xA | #xD | [#x20 to #xD7FF] | [#xE000 to #xFFFD] | [#x10000 to #x10FFFF]`,
    );
  }
}

function isNumber(text: string): boolean {
  const digits = text.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '');
  const value = Number(text);
  const isInRange = value >= NUMBER_RANGE.min && value <= NUMBER_RANGE.max;
  return NUMBER.test(text) && digits.length <= MAX_DIGITS && isInRange;
}

const invalid = (message: string) => new AwsError('InvalidParameterValue', message);
