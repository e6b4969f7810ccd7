import assert from 'node:assert/strict'
import test from 'node:test'
import { goJson } from '../functions/json.ts'
import { HELM_3, HELM_4 } from '../profile.ts'
import { isCompatible } from '../semver.ts'
import { parseInto, StrvalsError } from './strvals.ts'
import { userValues } from './user-values.ts'
import { mergeMaps } from './values-file.ts'

function set(text: string, kind: 'typed' | 'string' | 'json' | 'literal' = 'typed'): string {
  const target = new Map<string, unknown>()
  parseInto(text, target, { kind })
  return goJson(target)
}

const GOOD: readonly (readonly [string, string])[] = [
  ['a=1,b=true,c=null,d=x', '{"a":1,"b":true,"c":null,"d":"x"}'],
  ['a.b.c=1', '{"a":{"b":{"c":1}}}'],
  ['a={x,y,3}', '{"a":["x","y",3]}'],
  ['a[1]=x', '{"a":[null,"x"]}'],
  ['a[0].b=x,a[0].c=y', '{"a":[{"b":"x","c":"y"}]}'],
  ['a[0][1]=x', '{"a":[[null,"x"]]}'],
  ['a=', '{"a":""}'],
  ['a\\.b=x\\,y', '{"a.b":"x,y"}'],
  ['a=007,b=0,c=1.5,d=-3', '{"a":"007","b":0,"c":"1.5","d":-3}'],
  ['a={}', '{"a":[""]}'],
]
for (const [text, json] of GOOD) test(`--set ${text}`, () => assert.equal(set(text), json))

test('the other flags read their own way', () => {
  assert.equal(set('a=1', 'string'), '{"a":"1"}')
  assert.equal(set('a={"x":[1,2]},b="s"', 'json'), '{"a":{"x":[1,2]},"b":"s"}')
  assert.equal(set('a.b=x,y={z}', 'literal'), '{"a":{"b":"x,y={z}"}}')
})

const BAD: readonly (readonly [string, string])[] = [
  ['a', 'key "a" has no value'],
  ['a,b=1', 'key "a" has no value (cannot end with ,)'],
  ['a={x', "list must terminate with '}'"],
  ['a[-1]=x', 'negative -1 index not allowed'],
  ['a[x]=1', 'error parsing index: strconv.Atoi: parsing "x": invalid syntax'],
  ['a[0]b"=1', `unexpected data at end of array index: ['b' '"']`],
  ['a[99999]=1', 'index of 99999 is greater than maximum supported index of 65536'],
  ['a=1,a.b=2', 'unable to parse key: interface conversion: interface {} is int64, not map[string]interface {}'],
]
for (const [text, message] of BAD) {
  test(`--set ${text} is refused`, () =>
    assert.throws(
      () => set(text),
      (error) => error instanceof StrvalsError && error.message === message,
    ))
}

test('flags are merged in the order of Helm', () => {
  const data = new TextEncoder().encode('a: {b: 1, c: 2}\n')
  const values = userValues(
    { files: [{ name: 'f', data }], json: ['a={"c":3}'], set: ['a.d=4'], setString: ['a.d=5'] },
    HELM_4,
  )
  assert.equal(goJson(values), '{"a":{"c":3,"d":"5"}}')
})

test('several documents of one values file are merged by Helm 4 only', () => {
  const data = new TextEncoder().encode('a: 1\n---\nb: 2\n')
  assert.equal(goJson(userValues({ files: [{ name: 'f', data }] }, HELM_4)), '{"a":1,"b":2}')
  assert.equal(goJson(userValues({ files: [{ name: 'f', data }] }, HELM_3)), '{"a":1}')
})

test('merging leaves its inputs alone', () => {
  const a = new Map<string, unknown>([['m', new Map([['x', 1]])]])
  mergeMaps(a, new Map<string, unknown>([['m', new Map([['y', 2]])]]))
  assert.equal(goJson(a), '{"m":{"x":1}}')
})

const SEMVER: readonly (readonly [string, string, boolean, boolean])[] = [
  // constraint, version, with semver 3.4 and later, before
  ['>=1.16.0', '1.18.9-eks-1', false, false],
  ['>=1.16.0-0', '1.18.9-eks-1', true, true],
  ['>=1.0.0-0 <2.0.0', '1.5.0-a', true, false],
  ['!=1.2.3', '1.2.3-a', false, true],
  ['^0.2.3', '0.2.9', true, true],
  ['^0.0.3', '0.0.4', false, false],
  ['~1.2', '1.2.9', true, true],
  ['1.x', '1.9.0', true, true],
  ['1.2 - 1.4.5', '1.4.6', false, false],
  ['<=1.2', '1.2.9', true, true],
  ['>1', '1.9.0', false, false],
  ['*', '3.1.4', true, true],
  ['nope', '1.0.0', false, false],
]
for (const [constraint, version, newer, older] of SEMVER) {
  test(`${version} ${constraint}`, () => {
    assert.equal(isCompatible(constraint, version, 'group'), newer)
    assert.equal(isCompatible(constraint, version, 'each'), older)
  })
}
