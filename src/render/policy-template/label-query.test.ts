import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseLabelQuery } from './label-query.ts'

const LABELS = { app: 'web', tier: 'front', size: '3' }

test('terms select as Kubernetes has it', () => {
  for (const [text, wanted] of [
    ['', true],
    ['app', true],
    ['!app', false],
    ['app=web,tier == front', true],
    ['app!=web', false],
    ['gone!=web', true],
    ['app in (web, api)', true],
    ['app notin (web)', false],
    ['gone notin (web)', true],
    ['size>2,size<4', true],
    ['app>2', false],
    ['gone=', false],
  ] as const) {
    assert.equal(parseLabelQuery(text).matches(LABELS), wanted, text)
  }
})

test('the text is in the order of keys', () => {
  assert.equal(parseLabelQuery('b in (y,x), a=1,!c').text, 'a=1,b in (x,y),!c')
})

test('bad selectors are told in the words of Kubernetes', () => {
  for (const [text, message] of [
    ['bad selector', "unable to parse requirement: found 'selector', expected: in, notin, =, ==, !=, gt, lt"],
    ['=a', "found '=', expected: !, identifier, or 'end of string'"],
    ['a=b,', "found '', expected: identifier after ','"],
    ['a in x', "unable to parse requirement: found 'x', expected: '('"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
  ] as const) {
    assert.throws(() => parseLabelQuery(text), { message }, text)
  }
})
