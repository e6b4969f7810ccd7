import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import { nodeValue, readFirstNode, readFirstYaml, readNodes, readYaml, readYamlDocument } from './read-yaml.ts'
import { YamlError } from '../yaml.ts'
import type { ReadOptions } from '../yaml.ts'

function valueOf(text: string, options: ReadOptions = {}): unknown {
  return readYamlDocument(text, options).value
}

function errorOf(text: string | Uint8Array, options: ReadOptions = {}): YamlError {
  try {
    readYaml(text, options)
  } catch (error) {
    if (error instanceof YamlError) return error
    throw error
  }
  throw new assert.AssertionError({ message: `read without an error: ${JSON.stringify(text)}` })
}

describe('readYaml', () => {
  it('reads every document of a stream, and none of an empty one', () => {
    assert.deepEqual(
      readYaml('a: 1\n---\nb: 2\n---\n').map((document) => document.value),
      [{ a: 1 }, { b: 2 }, null],
    )
    assert.deepEqual(readYaml(''), [])
    assert.deepEqual(readYaml('# nothing\n'), [])
  })

  it('reads YAML 1.1 as kubectl does and 1.2 as Kustomize does', () => {
    const text = 'a: yes\nb: 0644\nc: 2001-01-01\nd: 1:30\n'
    assert.deepEqual(valueOf(text), { a: true, b: 420, c: '2001-01-01', d: '1:30' })
    assert.deepEqual(valueOf(text, { resolver: '1.2' }), { a: 'yes', b: 420, c: '2001-01-01T00:00:00Z', d: '1:30' })
  })

  it('reads bytes, with and without byte order mark, also of UTF-16', () => {
    assert.deepEqual(readYaml(utf8('\ufeffa: é'))[0]?.value, { a: 'é' })
    assert.deepEqual(readYaml(Uint8Array.of(0xff, 0xfe, 0x61, 0, 0x3a, 0, 0x20, 0, 0x3d, 0xd8, 0, 0xde))[0]?.value, {
      a: '😀',
    })
    assert.deepEqual(readYaml(Uint8Array.of(0xfe, 0xff, 0, 0x61))[0]?.value, 'a')
  })

  it('keeps integers as the caller needs them', () => {
    const text = '[1, 9007199254740993, 1.5, 1e3]'
    assert.deepEqual(valueOf(text), [1, 9007199254740992, 1.5, 1000])
    assert.deepEqual(valueOf(text, { integers: 'bigint' }), [1, 9007199254740993n, 1.5, 1000])
    assert.deepEqual(valueOf(text, { integer: (value) => ({ value }) }), [
      { value: 1n },
      { value: 9007199254740993n },
      1.5,
      1000,
    ])
  })

  it('makes Maps when asked', () => {
    assert.deepEqual(
      valueOf('10: a\n9: {b: c}', { mappings: 'map' }),
      new Map<string, unknown>([
        ['10', 'a'],
        ['9', new Map([['b', 'c']])],
      ]),
    )
  })

  it('CVE-2025-64718: keeps __proto__ an ordinary key', () => {
    const value = valueOf('__proto__: {polluted: true}\nx: {<<: {__proto__: {polluted: true}}}\n')
    assert.ok(typeof value === 'object' && value !== null)
    assert.equal(Object.getPrototypeOf(value), Object.prototype)
    assert.deepEqual(Object.keys(value), ['__proto__', 'x'])
    assert.equal(Reflect.get({}, 'polluted'), undefined)
  })
})

describe('positions', () => {
  it('are known for each value', () => {
    const document = readYamlDocument('# x\na:\n  b:\n    - c\n    - d: 1\n  😀: {e: f, g: h}\n')
    assert.deepEqual(document.start, { line: 2, column: 1 })
    assert.deepEqual(document.positionOf([]), { line: 2, column: 1 })
    assert.deepEqual(document.positionOf(['a', 'b']), { line: 3, column: 3 })
    assert.deepEqual(document.positionOf(['a', 'b', 0]), { line: 4, column: 7 })
    assert.deepEqual(document.positionOf(['a', 'b', 1, 'd']), { line: 5, column: 7 })
    assert.deepEqual(document.positionOf(['a', '😀', 'g']), { line: 6, column: 13 })
    assert.deepEqual(document.positionOf(['a', 'nope', 'x']), { line: 2, column: 1 })
  })

  it('go through aliases and merges', () => {
    const document = readYamlDocument('a: &x\n  b: 1\nc: *x\nd:\n  <<: *x\n  e: 2\n')
    assert.deepEqual(document.positionOf(['c']), { line: 3, column: 1 })
    assert.deepEqual(document.positionOf(['c', 'b']), { line: 2, column: 3 })
    assert.deepEqual(document.positionOf(['d', 'b']), { line: 2, column: 3 })
  })
})

describe('errors', () => {
  it('say file, line and column, and keep the words of Go', () => {
    const error = errorOf('a: 1\nb: c: d\n', { file: 'x.yaml' })
    assert.equal(error.message, 'x.yaml: line 2, column 5: mapping values are not allowed in this context')
    assert.equal(error.goMessage, 'yaml: line 2: mapping values are not allowed in this context')
    assert.deepEqual(error.position, { line: 2, column: 5 })
    assert.equal(error.file, 'x.yaml')
  })

  it('name the right line where Go does not', () => {
    const error = errorOf('a:\n  - b\n  c: d\n')
    assert.equal(error.goMessage, "yaml: line 2: did not find expected '-' indicator")
    assert.equal(error.message, "line 3, column 3: did not find expected '-' indicator")
  })

  it('point at bytes that are no text', () => {
    const error = errorOf(Uint8Array.of(0x61, 0x0a, 0x62, 0xff))
    assert.equal(error.goMessage, 'yaml: invalid leading UTF-8 octet')
    assert.deepEqual(error.position, { line: 2, column: 2 })
    assert.deepEqual(errorOf('a: b\nc: \u0007').position, { line: 2, column: 4 })
  })

  it('of unreadable bytes come only when the reader gets there', () => {
    const text = `a: 1\n---\n${'# padding\n'.repeat(100)}\u0001`
    assert.deepEqual(readFirstYaml(text).value, { a: 1 })
    assert.match(errorOf(text).message, /control characters/)
  })
})

describe('repeated keys', () => {
  const text = 'a: 1\nb: 2\na: 3\n'

  it('are an error unless the last one may win', () => {
    const error = errorOf(text)
    assert.deepEqual(error.position, { line: 3, column: 1 })
    assert.equal(error.goMessage, 'yaml: unmarshal errors:\n  line 3: key "a" already set in map')
    assert.deepEqual(valueOf(text, { duplicateKeys: 'last' }), { a: 3, b: 2 })
    assert.deepEqual(valueOf(text, { duplicateKeys: 'last', resolver: '1.2' }), { a: 3, b: 2 })
    assert.match(errorOf(text, { resolver: '1.2' }).goMessage, /mapping key "a" already defined at line 1/)
  })

  it('may meet a merge, except in strict reading', () => {
    const merge = 'x: &x {a: 1}\nv: {<<: *x, a: 2}\nz: {a: 2, <<: *x}\n'
    assert.deepEqual(valueOf(merge), { x: { a: 1 }, v: { a: 2 }, z: { a: 1 } })
    assert.deepEqual(valueOf(merge, { resolver: '1.2' }), { x: { a: 1 }, v: { a: 2 }, z: { a: 2 } })
    assert.match(errorOf(merge, { duplicateKeys: 'strict' }).message, /key "a" already set in map/)
    assert.match(errorOf('x: &x {a: 1}\nv: {<<: *x, a: 2, a: 3}\n').message, /key "a" already set in map/)
  })
})

describe('limits', () => {
  it('stop large, deep and growing texts', () => {
    assert.match(errorOf('a: 1', { limits: { maxBytes: 3 } }).message, /larger than 3 bytes/)
    assert.match(errorOf('[[[1]]]', { limits: { maxDepth: 2 } }).message, /exceeded max depth of 2/)
    assert.match(errorOf('a:\n  b:\n    c: 1', { limits: { maxDepth: 2 } }).message, /exceeded max depth of 2/)
    assert.match(errorOf('[1, 2, 3]', { limits: { maxNodes: 3 } }).message, /more than 3 nodes/)
    assert.match(errorOf('a: &x 1\nb: [*x, *x]', { limits: { maxAliases: 1 } }).message, /more than 1 aliases/)
    for (const resolver of ['1.1', '1.2'] as const) {
      assert.match(errorOf('['.repeat(100_000), { resolver }).message, /exceeded max depth of 1000/)
      assert.match(errorOf('- '.repeat(100_000), { resolver }).message, /exceeded max depth of 1000/)
      assert.match(errorOf('{a: '.repeat(100_000), { resolver }).message, /exceeded max depth of 1000/)
    }
  })

  it('CVE-2019-11253: stop aliases that multiply, as Go does', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    for (let i = 1; i < 9; i++) lines.push(`a${i}: &a${i} [${`*a${i - 1}, `.repeat(10)}]`)
    assert.equal(errorOf(lines.join('\n')).goMessage, 'yaml: document contains excessive aliasing')
    assert.equal(errorOf(lines.join('\n'), { resolver: '1.2' }).goMessage, 'yaml: document contains excessive aliasing')
    // Neither as a key nor beside one that is shown in the error.
    const bomb = lines.slice(0, 5).join('\n')
    assert.ok(errorOf(`${bomb}\n? *a4\n: x\n`).message.length < 1_000_000)
    assert.ok(errorOf(`${bomb}\n~: *a4\n`).message.length < 1_000_000)
    assert.match(errorOf(`${lines.join('\n')}\n~: *a8\n`).message, /excessive aliasing/)
  })

  it('stop a chain of aliases and one that bites its tail', () => {
    const chain = Array.from({ length: 2_000 }, (_, i) => `a${i}: &a${i} ${i === 0 ? 'x' : `[*a${i - 1}]`}`)
    assert.match(errorOf(chain.join('\n')).message, /exceeded max depth|excessive aliasing/)
    assert.equal(errorOf('a: &a [*a]').goMessage, "yaml: anchor 'a' value contains itself")
  })
})

describe('readYamlDocument', () => {
  it('wants exactly one document', () => {
    assert.throws(() => readYamlDocument('a: 1\n---\nb: 2\n'), /line 3, column 1: expected one document/)
    assert.equal(valueOf(''), null)
  })
})

describe('readFirstYaml', () => {
  it('does not look at what follows', () => {
    assert.deepEqual(readFirstYaml('a: 1\n---\nb: [\n').value, { a: 1 })
    assert.equal(readFirstYaml('').value, null)
  })
})

describe('readFirstNode', () => {
  it('gives the tree of the first document, if there is one', () => {
    assert.equal(readFirstNode('a: 1\n---\n[')?.content[0]?.kind, 'mapping')
    assert.equal(readFirstNode('# nothing'), undefined)
  })
})

describe('nodeValue', () => {
  it('gives the value of a tree or of a part of one', () => {
    const [document] = readNodes('a: {b: yes}\n', { resolver: '1.2' })
    assert.deepEqual(nodeValue(document!, { resolver: '1.2' }), { a: { b: 'yes' } })
    assert.deepEqual(nodeValue(document!.content[0]!.content[1]!, { resolver: '1.2' }), { b: 'yes' })
  })
})
