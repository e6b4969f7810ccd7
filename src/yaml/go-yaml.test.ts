import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { goJson } from './go-json.ts'
import type { YamlNode } from './node.ts'
import { readFirstYaml, readNodes } from './read/read-yaml.ts'
import { writeNodes, writeYaml } from './write/write-yaml.ts'
import { YamlError } from './yaml.ts'
import type { ReadOptions } from './yaml.ts'

// What Go's libraries said, see testdata/README.md.
type Answer = { readonly json: string } | { readonly error: string }

function recorded<T>(name: string): T[] {
  return JSON.parse(readFileSync(new URL(`./testdata/${name}.json`, import.meta.url), 'utf8')) as T[]
}

function answerOf(text: string, options: ReadOptions): Answer {
  try {
    return { json: goJson(readFirstYaml(text, { ...options, integers: 'bigint' }).value) }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    return { error: error.goMessage }
  }
}

describe('reading, against what Go read', () => {
  const cases = recorded<{ text: string; v2?: Answer; strict?: Answer; v3?: Answer }>('read')
  it('has its cases', () => assert.ok(cases.length > 1000))

  it('as sigs.k8s.io/yaml does', () => {
    for (const { text, v2 } of cases) {
      if (v2) assert.deepEqual(answerOf(text, { duplicateKeys: 'last' }), v2, JSON.stringify(text))
    }
  })
  it('as its strict form does', () => {
    for (const { text, v2, strict = v2 } of cases) {
      if (strict) assert.deepEqual(answerOf(text, { duplicateKeys: 'strict' }), strict, JSON.stringify(text))
    }
  })
  it('as Kustomize does', () => {
    for (const { text, v3 } of cases) {
      // Go starts with an empty map, so an empty text is one.
      if (v3 && !('json' in v3 && v3.json === '{}')) {
        assert.deepEqual(answerOf(text, { resolver: '1.2' }), v3, JSON.stringify(text))
      }
    }
  })
})

describe('trees, against those of yaml.v3', () => {
  const cases = recorded<{ text: string; tree: string[]; compact?: string; wide?: string }>('trees')
  it('has its cases', () => assert.ok(cases.length > 100))

  it('have the same nodes, styles, comments and places', () => {
    for (const { text, tree } of cases) {
      assert.deepEqual(
        readNodes(text, { resolver: '1.2' }).flatMap((node) => dump(node)),
        tree,
        JSON.stringify(text),
      )
    }
  })
  it('are written with the same bytes', () => {
    for (const { text, compact, wide = compact } of cases) {
      if (compact === undefined) continue
      const nodes = readNodes(text, { resolver: '1.2' })
      assert.equal(writeNodes(nodes), compact, JSON.stringify(text))
      assert.equal(writeNodes(nodes, { sequences: 'wide' }), wide, JSON.stringify(text))
    }
  })
})

function dump(node: YamlNode, depth = 0): string[] {
  const words = [
    node.kind,
    `${node.line}:${node.column}`,
    String(node.style),
    node.tag,
    JSON.stringify(node.value),
    node.anchor && `&${node.anchor}`,
    node.headComment && `head=${JSON.stringify(node.headComment)}`,
    node.lineComment && `line=${JSON.stringify(node.lineComment)}`,
    node.footComment && `foot=${JSON.stringify(node.footComment)}`,
  ]
  const line = '  '.repeat(depth) + words.filter((word) => word !== '').join(' ')
  return [line, ...node.content.flatMap((child) => dump(child, depth + 1))]
}

describe('writing, against what Go wrote', () => {
  const cases = recorded<{ value: string; sigs: string | { error: string }; v3?: string }>('write')
  it('has its cases', () => assert.ok(cases.length > 150))

  it('as sigs.k8s.io/yaml does', () => {
    for (const { value, sigs } of cases) {
      if (typeof sigs === 'string') assert.equal(writeYaml(JSON.parse(value)), sigs, value)
      else {
        assert.throws(
          () => writeYaml(JSON.parse(value)),
          (error: unknown) => error instanceof YamlError && error.goMessage === sigs.error,
          value,
        )
      }
    }
  })
  it('as yaml.v3 does', () => {
    for (const { value, v3 } of cases) {
      if (v3 !== undefined) assert.equal(writeYaml(JSON.parse(value), { style: 'v3' }), v3, value)
    }
  })
})
