import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JsonPathError, parseJsonPath } from './jsonpath.ts'

const LIST = {
  kind: 'List',
  items: [
    {
      metadata: { name: 'a', labels: { 'app.kubernetes.io/name': 'web' } },
      status: { n: 1, conditions: [{ type: 'Ready', status: 'True' }] },
    },
    {
      metadata: { name: 'b', labels: {} },
      status: {
        n: 20,
        conditions: [
          { type: 'Ready', status: 'False' },
          { type: 'Other', status: 'True' },
        ],
      },
    },
    { metadata: { name: 'c' } },
  ],
}

// Checked against kubectl 1.36, which also prints `.items` without braces as text and cannot reach a label by its
// quoted name.
const CASES: readonly (readonly [template: string, printed: string])[] = [
  ['{.kind}', 'List'],
  ['{.items[*].metadata.name}', 'a b c'],
  ['.items[*].metadata.name', 'a b c'],
  ['{.items[0].metadata.name}', 'a'],
  ['{.items[-1].metadata.name}', 'c'],
  ['{.items[-1:].metadata.name}', 'c'],
  ['{.items[0:2].metadata.name}', 'a b'],
  ['{.items[::2].metadata.name}', 'a c'],
  ['{.items[0,2].metadata.name}', 'a c'],
  ["{.items[0]['metadata','status'].name}", 'a'],
  ['{.items[*].status.n}', '1 20'],
  ['{.items[0].status.conditions}', '[{"status":"True","type":"Ready"}]'],
  ["{.items[0].metadata.labels['app.kubernetes.io/name']}", 'web'],
  ['{.items[0].metadata.labels.app\\.kubernetes\\.io/name}', 'web'],
  ['{.nothing.here}', ''],
  ['{..name}', 'a b c'],
  ['{.items[?(@.metadata.name=="b")].status.n}', '20'],
  ['{.items[?(@.status.n>5)].metadata.name}', 'b'],
  ['{.items[?(@.status)].metadata.name}', 'a b'],
  ['{.items[*].status.conditions[?(@.type=="Ready")].status}', 'True False'],
  ['{range .items[*]}{.metadata.name}{"\\t"}{.status.n}{"\\n"}{end}', 'a\t1\nb\t20\nc\t\n'],
  ['{range .items[*]}[{.metadata.name}]{end} of {$.kind}', '[a][b][c] of List'],
  ["name: {.items[0].metadata.name}{'\\n'}", 'name: a\n'],
  ["{'it\\'s \"b\"'}", 'it\'s "b"'],
  ["{.items[*]['metadata.name']}", 'a b c'],
  ["{.items[0].metadata.labels['app\\.kubernetes\\.io/name']}", 'web'],
  ['{range .items[*]}{.metadata.name}{range .status.conditions[*]}<{.type}>{end};{end}', 'a<Ready>;b<Ready><Other>;c;'],
  ['{ .kind }{@.kind}{$.kind}', 'ListListList'],
  ['{.items[?(@.metadata.name<"b")].metadata.name}', 'a'],
  ['{.items[?(@.status.conditions[0].status=="True")].metadata.name}', 'a'],
]

for (const [template, printed] of CASES) {
  test(`jsonpath ${template}`, () => {
    assert.equal(parseJsonPath(template)(LIST), printed)
  })
}

for (const template of ['{.items[', '{.a', '{range .items[*]}x', 'x{end}', '{.items[?(@.a==b)]}', '{"x}']) {
  test(`jsonpath refuses ${template}`, () => {
    assert.throws(() => parseJsonPath(template), JsonPathError)
  })
}
