// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Fn::Sub has the placeholders of a template string.
import { describe, expect, test } from '@jest/globals';
import { resolveIntrinsics } from '../../../local/template/intrinsics.ts';

const refs: Record<string, string> = { Queue: 'http://localhost/queue', 'AWS::Region': 'us-east-1' };
const attributes: Record<string, string> = {
  'Queue.Arn': 'arn:aws:sqs:queue',
  'Api.Endpoint.Address': 'localhost',
};
const references = {
  ref: (name: string) => refs[name],
  attribute: (resource: string, attribute: string) => attributes[`${resource}.${attribute}`],
};

const resolve = (value: unknown) => resolveIntrinsics(value, references);

describe('a piece of a template', () => {
  test.each([
    ['a text', 'plain', 'plain'],
    ['a number', 7, 7],
    ['null', null, null],
    ['false', false, false],
    ['an empty object', {}, {}],
    ['a Ref to a resource', { Ref: 'Queue' }, 'http://localhost/queue'],
    ['a Ref to a pseudo parameter', { Ref: 'AWS::Region' }, 'us-east-1'],
    [
      'an object with Ref and more, which is no function',
      { Ref: 'Queue', Type: 'x' },
      { Ref: 'Queue', Type: 'x' },
    ],
    ['Fn::GetAtt of a list', { 'Fn::GetAtt': ['Queue', 'Arn'] }, 'arn:aws:sqs:queue'],
    ['Fn::GetAtt of a text', { 'Fn::GetAtt': 'Queue.Arn' }, 'arn:aws:sqs:queue'],
    ['Fn::GetAtt of an attribute with a dot', { 'Fn::GetAtt': 'Api.Endpoint.Address' }, 'localhost'],
    ['Fn::Join', { 'Fn::Join': ['/', ['a', { Ref: 'AWS::Region' }]] }, 'a/us-east-1'],
    ['Fn::Join of nothing', { 'Fn::Join': ['/', []] }, ''],
    ['Fn::Select', { 'Fn::Select': [1, ['a', { Ref: 'AWS::Region' }]] }, 'us-east-1'],
    ['Fn::Select with an index as a text', { 'Fn::Select': ['0', ['a', 'b']] }, 'a'],
    ['Fn::Split', { 'Fn::Split': [':', 'a:b'] }, ['a', 'b']],
    [
      'functions in each other',
      { 'Fn::Select': [3, { 'Fn::Split': [':', { 'Fn::GetAtt': ['Queue', 'Arn'] }] }] },
      'queue',
    ],
    ['Fn::Sub of a resource', { 'Fn::Sub': '<${Queue}>' }, '<http://localhost/queue>'],
    ['Fn::Sub of an attribute', { 'Fn::Sub': '${Queue.Arn}' }, 'arn:aws:sqs:queue'],
    ['Fn::Sub of a pseudo parameter', { 'Fn::Sub': 'assets-${AWS::Region}' }, 'assets-us-east-1'],
    ['Fn::Sub of a variable', { 'Fn::Sub': ['${Name}!', { Name: { Ref: 'AWS::Region' } }] }, 'us-east-1!'],
    ['Fn::Sub of a literal', { 'Fn::Sub': '${!Queue}' }, '${Queue}'],
    ['AWS::NoValue in an object', { a: { Ref: 'AWS::NoValue' }, b: 1 }, { b: 1 }],
    ['AWS::NoValue in a list', [{ Ref: 'AWS::NoValue' }, 1], [1]],
    ['AWS::NoValue by itself', { Ref: 'AWS::NoValue' }, undefined],
    ['what is deep inside', { a: [{ b: { Ref: 'Queue' } }] }, { a: [{ b: 'http://localhost/queue' }] }],
  ])('%s', (_what, value, expected) => {
    expect(resolve(value)).toEqual(expected);
  });
});

describe('what cannot be evaluated is named', () => {
  test.each([
    ['an unknown function', { 'Fn::ImportValue': 'x' }, 'does not know Fn::ImportValue'],
    ['an unknown reference', { Ref: 'Bucket' }, 'does not have: Ref Bucket'],
    ['an unknown attribute', { 'Fn::GetAtt': ['Queue', 'Colour'] }, 'does not have: Fn::GetAtt Queue.Colour'],
    ['an unknown reference in Fn::Sub', { 'Fn::Sub': '${Bucket}' }, 'does not have: Ref Bucket'],
    [
      'an unknown attribute in Fn::Sub',
      { 'Fn::Sub': '${Queue.Colour}' },
      'does not have: Fn::GetAtt Queue.Colour',
    ],
  ])('%s', (_what, value, message) => {
    expect(() => resolve(value)).toThrow(message);
  });
});
