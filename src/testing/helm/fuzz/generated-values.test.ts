import assert from 'node:assert/strict'
import test from 'node:test'
import { readYamlTable } from '../../../render/helm/read-yaml.ts'
import { generatedValues } from './generated-values.ts'

const DEFAULTS = `
up: false
count: 3
port: 8080
name: web
none: null
empty: ''
list: [a]
nothing: {}
image: {tag: '1.10', pull: true}
deep: {probe: {path: /}}
`
const files = new Map(generatedValues(new TextEncoder().encode(DEFAULTS)))
const of = (kind: string) => readYamlTable(files.get(kind)!)

for (const [kind, path, wanted] of [
  ['toggled', ['up'], true],
  ['toggled', ['image', 'pull'], false],
  ['on', ['image'], undefined],
  ['nulled', ['deep', 'probe', 'path'], null],
  ['nulled', ['nothing'], null],
  ['strings', ['count'], '3'],
  ['filled', ['none'], 'given'],
  ['swapped', ['name'], 7],
  ['emptied', ['list'], []],
  ['emptied', ['image', 'tag'], ''],
  ['large', ['count'], undefined],
  ['large', ['port'], 9_007_199_254_740_992],
  ['floats', ['count'], 3.5],
  ['unicode', ['name'], 'web ünï 日本 🚢'],
  ['lines', ['deep', 'probe', 'path'], 'a line\n  - another: {{ .Release.Name }}\n\n# the last\n'],
  ['listed', ['name'], ['web']],
  ['mapped', ['list'], new Map([['was', ['a']]])],
  ['flattened', ['image'], 'flat'],
  ['flattened', ['deep', 'probe'], 'flat'],
  ['spelled', ['count'], 1000],
] as const) {
  test(`${kind}: ${path.join('.')}`, () => {
    const value = path.reduce<unknown>((at, key) => (at instanceof Map ? at.get(key) : undefined), of(kind))
    assert.deepEqual(value, wanted)
  })
}

test('the same defaults give the same files, and other defaults other ones', () => {
  const again = new Map(generatedValues(new TextEncoder().encode(DEFAULTS)))
  assert.deepEqual(again, files)
  const other = new Map(generatedValues(new TextEncoder().encode(`${DEFAULTS}more: 1\n`)))
  assert.notEqual(other.get('mixed-1'), files.get('mixed-1'))
})

test('values that cannot be read give no files', () => {
  assert.deepEqual(generatedValues(new TextEncoder().encode('a: [')), [])
})
